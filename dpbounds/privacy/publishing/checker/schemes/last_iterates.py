"""Last iterates (11), (22), (25)."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.fields import COUNTED, MANY, Fields, unread
from dpbounds.privacy.publishing.checker.profiles import averaged, gaussian_profile
from dpbounds.privacy.publishing.checker.reading import field, nonnegative, positive, quoted, rational
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme, demand_positions, noise_in_words, of_noise
from dpbounds.privacy.publishing.checker.schemes.secret_orders import secret_costs
from dpbounds.privacy.publishing.checker.schemes.windows import in_every_step, is_scheduled, scheduled_costs, window
from dpbounds.privacy.publishing.checker.spent import Sampled, Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed
from dpbounds.privacy.publishing.checker.work import effort


def step_sizes(record: Any, name: str) -> Fraction | list[Fraction] | None:
    """Reads one step size, or one for each epoch or step."""
    if not isinstance(record[name], list):
        return positive(record, name)
    sizes = [rational(each) for each in record[name]]
    if not sizes or min(sizes) <= 0:
        raise Malformed("a step size that is not positive")
    return sizes


class LastIterate(Scheme):
    """Last iterate of noisy gradient descent over batches by position, and checkpoints."""

    kind = "last-iterate"
    version = 4
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("noise_multiplier", "noise_stddev", "sensitivity"), positive),
        "kind": unread,
        "batches": MANY,
        "epochs": MANY,
        "smoothness_step": step_sizes,
        "weight_decay_step": nonnegative,
        "order": unread,
        "checkpoints": unread,
        "count": COUNTED,
    }
    by_position = True

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Refuse parameters that no run has."""
        after = field(release, "checkpoints", list)
        if any(type(each) is not int for each in after) or any(
            second <= first for first, second in pairwise((0, *after, release["epochs"]))
        ):
            raise Malformed("the checkpoints are not epochs in increasing order, each before the last")
        if release["order"] not in ("fixed", "shuffled", "secret")[: 1 if version < 5 else 3]:
            raise Malformed(f"a last iterate in the order {quoted(release['order'])}, which version {version} has not")
        if release["smoothness_step"] is None or release["weight_decay_step"] > 1:
            raise Malformed("a last iterate needs a smoothness_step, and a weight_decay_step of at most 1")
        if is_scheduled(release):
            if version < 5 or release["weight_decay_step"]:
                raise Malformed("step sizes that change go with version 5 and no weight decay")
            if len(release["smoothness_step"]) not in (release["epochs"], release["epochs"] * release["batches"]):
                raise Malformed("step sizes that change are one per epoch, or one per step")
            if len(set(release["smoothness_step"])) == 1:
                raise Malformed("step sizes that are all the same are one number")

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Return whether positions are secret, or step sizes change."""
        return release["order"] != "fixed" or is_scheduled(release)

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return whether the pair is attained: the record takes part in every step."""
        return bool(release["batches"] == 1)

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """(11): windows of m steps from a participation to the next, and of one after the last."""
        demand_positions(relation)
        (z, farthest), m = of_noise(release, relation), release["batches"]
        rise = release["smoothness_step"] - release["weight_decay_step"]  # c - 1, above -1
        epochs = [b - a for a, b in pairwise((0, *release["checkpoints"], release["epochs"]))]
        if m == 1:
            effort.spend(20 * len(set(epochs)))
            several = {count: in_every_step(rise, count) for count in set(epochs)}
            cost = sum((several[count] for count in epochs), Fraction(0))
        else:
            cost = (release["epochs"] - len(epochs)) * window(rise, m) + len(epochs)
        return cost * (farthest / z) ** 2, Sampled()

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the profile of the most expensive position, or of an average of positions."""
        if not self.is_drawn(release):
            return super().spent(release, order, relation, aim)
        z, farthest = of_noise(release, relation)
        one = (farthest / z) ** 2
        if release["order"] == "fixed":
            return Spent(one * max(scheduled_costs(release)))
        parts = secret_costs(release, one)
        effort.spend(len(parts))
        found = averaged([(chance, gaussian_profile(cost)) for chance, cost in parts])
        found.exact = False
        return Spent(steps=[(found, 1)])

    def sampling(self, release: dict[str, Any]) -> None:
        """Return None: it has no separate noise."""

    def words(self, release: dict[str, Any]) -> str:
        """Noise and decay are rounded down, steps up."""
        after, steps = release["checkpoints"], release["smoothness_step"]
        also = f" and after epochs {', '.join(map(str, after[:20]))}" if after else ""
        more = ", ..." if len(after) > 20 else ""
        sizes = f"steps, {shown(min(steps))} to" if is_scheduled(release) else "step"
        largest = shown(max(steps) if is_scheduled(release) else steps)
        return (
            f"{release['count']} x only the last iterate{also}{more} of {release['epochs']} epochs of "
            f"{release['batches']} batches in a {release['order']} order, smoothness {sizes} {largest}, weight decay "
            f"step {shown(release['weight_decay_step'], ROUND_FLOOR)}; Gaussian noise in every step, "
            f"{noise_in_words(release)}"
        )
