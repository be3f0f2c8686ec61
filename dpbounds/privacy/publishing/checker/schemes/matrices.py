"""Matrix mechanisms (12), (13), (26)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from dpbounds.privacy.publishing.checker.aim import Aim
from dpbounds.privacy.publishing.checker.balls import shown
from dpbounds.privacy.publishing.checker.fields import COUNTED, COUNTED_OR_NONE, Fields, unread
from dpbounds.privacy.publishing.checker.reading import positive, quoted
from dpbounds.privacy.publishing.checker.schemes.binned_matrices import of_binned_matrix
from dpbounds.privacy.publishing.checker.schemes.columns import bands_of, read_matrix, steps_in
from dpbounds.privacy.publishing.checker.schemes.participations import REACHES, blocks
from dpbounds.privacy.publishing.checker.schemes.scheme import Scheme, noise_in_words
from dpbounds.privacy.publishing.checker.spent import Sampled, Spent
from dpbounds.privacy.publishing.checker.verdicts import Malformed

BINNED = "balls-in-bins"  # the secret one of the participation patterns


class Matrix(Scheme):
    """The rows of C x with independent noise, x being the sums of the steps."""

    kind = "matrix"
    version = 4
    fields: ClassVar[Fields] = {
        **dict.fromkeys(("kind", "matrix", "participation", "groups"), unread),
        **dict.fromkeys(("noise_multiplier", "sample_rate"), positive),
        **dict.fromkeys(("separation", "at_most"), COUNTED_OR_NONE),
        "count": COUNTED,
    }

    def demand(self, release: dict[str, Any], version: int) -> None:
        """Read the matrix; refuse fields that are inconsistent."""
        release["matrix"] = read_matrix(release["matrix"])
        needs = {"single": (False, False), "fixed-order": (True, False), "minimum-separation": (True, False)}
        needs |= {"cyclic-poisson": (True, True), BINNED: (True, False)}
        how, apart, rate = release["participation"], release["separation"], release["sample_rate"]
        if type(how) is not str or how not in needs or (apart is not None, rate is not None) != needs[how]:
            raise Malformed(f"participation {quoted(how)} with its separation and sample_rate")
        if release["at_most"] is not None and how != "minimum-separation":
            raise Malformed("at_most goes with participation minimum-separation only")
        kinds = ("independent",) if how == BINNED else ("position", "independent", "content")
        if release["groups"] not in kinds or (rate is not None and rate > 1):
            raise Malformed(f"groups {quoted(release['groups'])}, sample_rate {quoted(str(rate))}")
        if release["noise_multiplier"] is None:
            raise Malformed("a matrix mechanism needs a noise_multiplier")
        if version < 5 and how == BINNED:
            raise Malformed(f"participation balls-in-bins, which version {version} does not have")

    def is_drawn(self, release: dict[str, Any]) -> bool:
        """Return whether bins are drawn."""
        return bool(release["participation"] == BINNED)

    def is_attained(self, release: dict[str, Any]) -> bool:
        """Return whether it is attained, by sums of equal terms: all overlaps of columns count in full."""
        given, how = release["matrix"], (release["participation"], release["sample_rate"])
        values = given.get("coefficients") or [value for row in given.get("rows", ()) for value in row]
        return how == ("fixed-order", None) and all(value >= 0 for value in values)

    def product(self, release: dict[str, Any], relation: str) -> tuple[Fraction, Sampled]:
        """(12), or (13) where the record is sampled."""
        if relation == "add-or-remove-one" and release["groups"] == "position":
            raise Malformed("a record's steps by its position have no pair under add-or-remove-one")
        variance, how, rate = release["noise_multiplier"] ** 2, release["participation"], release["sample_rate"]
        steps = steps_in(release["matrix"])
        if rate is not None and rate < 1:
            return Fraction(0), Sampled(
                {(rate, variance / norm): n for norm, n in blocks(release, steps, relation).items()}
            )
        apart = steps if how == "single" else min(release["separation"], steps)
        most = -(-steps // apart)
        if how == "minimum-separation" and release["at_most"] is not None:
            most = min(most, release["at_most"])
        free = how == "minimum-separation" and most > 1
        found = REACHES[release["matrix"]["kind"]](release["matrix"], steps, apart if most > 1 else steps, most, free)
        return found * (4 if relation == "replace-one" else 1) / variance, Sampled()

    def spent(self, release: dict[str, Any], order: str, relation: str, aim: Aim) -> Spent:
        """Return the profile of the rows; with balls in bins, strides are hints."""
        if not self.is_drawn(release):
            return super().spent(release, order, relation, aim)
        stride = aim.choice("strides") if aim.waiting.get("strides") else release["separation"]
        if type(stride) is not int:
            raise Malformed(f"a stride of {quoted(stride)}")
        return Spent(steps=of_binned_matrix(release, order, stride, aim))

    def sampling(self, release: dict[str, Any]) -> None:
        """Return None: it has no separate noise."""

    def words(self, release: dict[str, Any]) -> str:
        """Describe the encoder and the participation pattern."""
        return (
            f"{release['count']} x {matrix_in_words(release)}; Gaussian noise in every row, {noise_in_words(release)}"
        )


def matrix_in_words(read: dict[str, Any]) -> str:
    """Describe the encoder and the participation pattern."""
    given, how = read["matrix"], read["participation"]
    which = {
        "lower-triangular": "a lower triangular matrix",
        "binary-tree": "a binary tree",
        "toeplitz": "a Toeplitz matrix",
    }
    bands = "" if given["kind"] == "binary-tree" else f" of {bands_of(given)} bands"
    apart = "" if read["separation"] is None else f", separation {read['separation']}"
    most = "" if read["at_most"] is None else f", at most {read['at_most']} steps"
    rate = "" if read["sample_rate"] is None else f", rate {shown(read['sample_rate'])}"
    what = f"{which[given['kind']]}{bands} over {steps_in(given)} steps"
    return f"{what}, participation {how}{apart}{most}{rate}, groups by {read['groups']}"
