"""The contour integral added up: certified δ(ε), ε(δ), and a quick proof that one direction is dominated."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

from flint import acb, acb_mat, arb

from dpbounds.errors import NotCertified
from dpbounds.expressions.enclosure import Enclosure, ball_end
from dpbounds.expressions.time_limit import checkpoint
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.pairs import GaussianProduct
from dpbounds.privacy.proofs import Declined, Proof, planned_in_doubles
from dpbounds.privacy.routes.closed_forms import ball, losses_stay_below
from dpbounds.privacy.routes.contour.choices import ContourChoices, Nodes
from dpbounds.privacy.routes.contour.estimate import quick_log_delta, settled_plan
from dpbounds.privacy.routes.contour.growing import growing_plan, kept_moments
from dpbounds.privacy.routes.contour.moments import Moments, need, upper
from dpbounds.privacy.routes.contour.plan import SOFTNESSES, TooDearError, chernoff_plan
from dpbounds.privacy.routes.contour.several import shared_plan
from dpbounds.privacy.routes.contour.tails import Rectangles, rectangles_below, turned_bound
from dpbounds.privacy.routes.inversion import invert

ACCURACY = 1e-13  # target relative error of δ of a plan
# softnesses of cut-offs; the second where the first lets the largest jumps back in
_CHERNOFF_SOFTNESSES = (
    1.0,
    0.0625,
)
_ATTEMPTS, _NARROW = 2, 1e-4  # plans tried for one query; relative width at which the search stops
_LARGE = 20_000_000  # node-frequency products for which the finest rectangles take negligible time
_NARROW_GROWING = 1e-11  # relative width that a plan for the beginning of a schedule must reach
_FEWEST = 4  # least number of ε for which one common plan is searched
_SERVED = 1e3  # accuracy that a plan for several ε must reach at each of them, in units of the target accuracy
_LOOSER, _LOOSEST = 1e3, 1e-6  # looser accuracies (a factor, and the loosest) where a plan for several ε is too slow
_LOCATED = 0.2  # relative width at which an answer can start another search
_DEEPEST = -5000.0  # log δ below which only an upper bound is computed


class ContourCurve:
    """δ(ε) of one product near the ε that a plan was made for; everything at the plan's precision.

    Construct and call inside ``working(plan.precision)``.
    """

    def __init__(self, plan: ContourChoices, moments: Callable[[Nodes], Moments] = Moments) -> None:
        self.plan = plan
        self.parts = [moments(nodes) for nodes in plan.nodes]
        self.shift = ball(plan.squared_shift)
        self.tilt, self.spacing = arb(plan.tilt), arb(plan.spacing)
        need(self.tilt > 0, "the tilt is positive")
        need(self.spacing > 0, "the frequencies are spaced apart")
        need(plan.frequencies >= 1, "there is a positive frequency")
        self.peeled = plan.bulk_tilt is not None
        for nodes in plan.nodes:
            need((nodes.bulk is not None) == self.peeled, "all parts are split, or none")
        self.cut_mass = sum((part.count * part.cut_mass() for part in self.parts), arb(0))
        self.terms = self._terms()
        self.tail = self._tail()
        right, left = plan.aliases
        self.aliases = [self._alias(right, is_right=True), self._alias(left, is_right=False)]

    def _gaussian(self, s: acb) -> acb:
        return (s * (s + 1) * self.shift / 2).exp()

    def _moment(self, tilt: float) -> arb:
        """Return an upper bound on G(tilt) = Π M_i(tilt)^{T_i}."""
        total = self._gaussian(acb(arb(tilt))).real
        for part in self.parts:
            total = total * part.at_real(tilt) ** part.count
        return upper(total)

    def _terms(self) -> acb_mat:
        """Return c_k = G(s_k) / (s_k (s_k + 1)), less the bulk's own contribution in a peeled plan; half of c_0.

        Row by row in a matrix, as a sum over k = k₁ + b k₂ needs them.
        """
        plan = self.plan
        checkpoint()
        values = [part.at_frequencies(plan.tilt, plan.spacing, plan.frequencies, plan.bits) for part in self.parts]
        terms = []
        for k in range(plan.frequencies + 1):
            s = acb(self.tilt, self.spacing * k)
            whole, bulk = acb(1), acb(1)
            for part, (moments, bulks) in zip(self.parts, values, strict=True):
                whole = whole * moments[k] ** part.count
                if self.peeled:
                    bulk = bulk * bulks[k] ** part.count
            difference = whole - bulk if self.peeled else whole
            terms.append(self._gaussian(s) * difference / (s * (s + 1)))
        terms[0] = terms[0] / 2
        columns = math.isqrt(plan.frequencies) + 1
        terms += [acb(0)] * (-len(terms) % columns)
        return acb_mat(len(terms) // columns, columns, terms)

    def _tail(self) -> arb:
        """Return an upper bound on e^{λε} |contribution of the frequencies beyond the last one|."""
        plan = self.plan
        w = self.spacing * (plan.frequencies + 1)
        # few rectangles show enough of many steps' decay, unless next to no time goes into them
        steps = sum(part.count for part in self.parts) if plan.products < _LARGE else 1
        rectangles = [
            None if part.nodes.turn is not None else rectangles_below(part, plan.tilt, steps) for part in self.parts
        ]
        bound = self._jumps(w) if self.peeled else self._decay(w, rectangles)
        return upper(bound / (arb.pi() * self.spacing * plan.frequencies))

    def _decay(self, w: arb, rectangles: list[Rectangles | None]) -> arb:
        """Return an upper bound on |G(λ + iw')| for w' >= w."""
        product = self._gaussian(acb(self.tilt)).real * (-w * w * self.shift / 2).exp()
        for part, below in zip(self.parts, rectangles, strict=True):
            bound = turned_bound(part, self.plan.tilt, w) if below is None else below.bound(w)
            product = product * bound.max(arb(0)) ** part.count
        return upper(product)

    def _jumps(self, w: arb) -> arb:
        """Bound |Π M_i^{T_i} - Π (bulk of M_i)^{T_i}| at λ + iw' for w' >= w, where some factor is a jump's."""
        whole = self._gaussian(acb(self.tilt)).real * (-w * w * self.shift / 2).exp()
        share = arb(0)
        for part in self.parts:
            moment = part.at_real(self.plan.tilt)
            whole = whole * moment**part.count
            share = share + part.count * turned_bound(part, self.plan.tilt, w) / moment
        return upper(whole * share)

    def _alias(self, sigma: float, is_right: bool) -> tuple[arb, arb]:
        """Return (σ, upper bound on G(σ) r/(1-r)) with r = e^{-|σ-λ|Λ}."""
        exact_sigma = arb(sigma)
        if is_right:
            need(exact_sigma > self.tilt, "σ₁ > λ")
        else:
            need(exact_sigma < self.tilt, "σ₂ < λ")
            need(exact_sigma >= 0, "σ₂ >= 0")
        ratio = (-abs(exact_sigma - self.tilt) * 2 * arb.pi() / self.spacing).exp()
        need(ratio < 1, "the aliases decay")
        moment = arb(1) if exact_sigma == 0 else self._moment(sigma)
        return exact_sigma, upper(moment * ratio / (1 - ratio))

    def pieces(self, epsilon: Fraction) -> dict[str, arb]:
        """Return the terms of the final inequality at one ε >= 0."""
        checkpoint()
        e = ball(epsilon)
        rows, columns = self.terms.nrows(), self.terms.ncols()
        angle = -self.spacing * e
        small = acb_mat(columns, 1, [_turn(angle * k) for k in range(columns)])
        large = acb_mat(1, rows, [_turn(angle * (k * columns)) for k in range(rows)])
        total = (large * (self.terms * small))[0, 0].real
        shrink = (-self.tilt * e).exp()
        value = self.spacing / arb.pi() * shrink * total
        aliases = sum((bound * (-sigma * e).exp() for sigma, bound in self.aliases), arb(0))
        return {
            "value": value,
            "frequency tail": self.tail * shrink,
            "aliases": upper(aliases),
            "cut-off": self.cut_mass,
            "bulk": self._bulk(e),
        }

    def _bulk(self, e: arb) -> arb:
        """Return an upper bound on the contribution of sums without any jump: c_σ e^{-σε} Π (bulk of M_i(σ))^{T_i}."""
        if self.plan.bulk_tilt is None:
            return arb(0)
        sigma = arb(self.plan.bulk_tilt)
        need(sigma > 0, "the bulk's tilt is positive")
        return upper(_peak(sigma) * (-sigma * e).exp() * self._bulk_moment)

    @cached_property
    def _bulk_moment(self) -> arb:
        """Upper bound on Π (bulk of M_i(σ))^{T_i}."""
        sigma = self.plan.bulk_tilt
        assert sigma is not None
        total = self._gaussian(acb(arb(sigma))).real
        for part in self.parts:
            total = total * upper(part.bulk_at_real(sigma)) ** part.count
        return upper(total)

    def __call__(self, epsilon: Fraction) -> tuple[arb, arb]:
        """Return balls whose lower and upper endpoints enclose δ(ε)."""
        piece = self.pieces(epsilon)
        lower = piece["value"] - piece["frequency tail"] - piece["aliases"]
        above = piece["value"] + piece["frequency tail"] + piece["cut-off"] + piece["bulk"]
        return lower, above

    def error_budget(self, epsilon: Fraction) -> dict[str, float]:
        """Return each source of width relative to δ(ε)."""
        piece = self.pieces(epsilon)
        value = piece["value"].mid()
        budget = {name: float((bound / value).upper()) for name, bound in piece.items() if name != "value"}
        return {"rounding and quadrature": float((piece["value"].rad() / value).upper()), **budget}


def _turn(angle: arb) -> acb:
    """Return e^{i angle}."""
    sine, cosine = angle.sin_cos()
    return acb(cosine, sine)


def _peak(s: arb) -> arb:
    """Return the maximum over t >= 0 of (1 - e^{-t}) e^{-st} = s^s / (s+1)^{s+1}."""
    return (s * s.log() - (s + 1) * (s + 1).log()).exp()


def _proof(curve: ContourCurve, enclosure: Enclosure, at: Fraction) -> Proof:
    plan = curve.plan
    parameters: dict[str, object] = {
        "tilt": plan.tilt,
        "spacing": plan.spacing,
        "frequencies": plan.frequencies,
        "aliases": list(plan.aliases),
        "bulk_tilt": plan.bulk_tilt,
        "squared_shift": str(plan.squared_shift),
        "precision": plan.precision,
        "parts": [
            {
                "sample_rate": str(n.part.pair.sample_rate),
                "variance": str(n.part.pair.variance),
                "count": n.part.count,
                "step": n.step,
                "first": n.first,
                "last": n.last,
                "strip": n.strip,
                "edge": n.edge if n.part.cut else None,
                "softness": n.softness if n.part.cut else None,
                "turn": n.turn,
                "bulk": None if n.bulk is None else {"edge": n.bulk.edge, "softness": n.bulk.softness},
            }
            for n in plan.nodes
        ],
    }
    return Proof(enclosure, "contour", parameters, curve.error_budget(at))


@planned_in_doubles
def contour_epsilon(product: GaussianProduct, delta: Fraction, accuracy: float = ACCURACY) -> Proof:
    """Enclose ε(δ) of one product of pairs.

    Args:
        product: Pairs with multiplicities, one direction.
        delta: In (0, 1).
        accuracy: Relative accuracy of δ that the plan aims at.

    Returns:
        The proven ends with the choices and the error budget.

    Raises:
        Declined: A condition of the proof is unmet or the work is too much; nothing is known then.
    """
    with contextlib.suppress(Declined):
        found = _epsilon_on(growing_plan(product, _log(delta), accuracy), delta, kept_moments)
        if _relative_width(found) <= _NARROW_GROWING:
            return found
    best: Proof | None = None
    softnesses: tuple[float, ...] = SOFTNESSES
    guess: float | None = None
    for _ in range(_ATTEMPTS):
        try:
            plan = settled_plan(product, log_delta=_log(delta), epsilon=guess, accuracy=accuracy, softnesses=softnesses)
            found = _epsilon_on(plan, delta)
        except Declined:
            if best is None:
                raise
            break
        if best is None or _relative_width(found) < _relative_width(best):
            best = found
        if _relative_width(best) <= _NARROW:
            break
        if _relative_width(found) < _LOCATED:  # the tilt served another ε; this one is known now
            guess, softnesses = (found.enclosure.lower + found.enclosure.upper) / 2, (plan.softness or SOFTNESSES[0],)
        else:  # a soft cut-off may have led the search astray: a steeper one may do better
            guess, softnesses = None, tuple(value for value in softnesses if value < plan.softness)
        if not softnesses:
            break
    assert best is not None
    return best


def _epsilon_on(plan: ContourChoices, delta: Fraction, moments: Callable[[Nodes], Moments] = Moments) -> Proof:
    with working(plan.precision):
        curve = ContourCurve(plan, moments)
        try:
            low, high = invert(curve, ball(delta), plan.guess, lambda e: curve.pieces(e)["value"], slope=plan.tilt)
        except NotCertified as reason:
            raise Declined(str(reason)) from reason
        return _proof(curve, Enclosure(low, high, "contour", plan.precision), high)


def _relative_width(proof: Proof) -> float:
    upper_end = proof.enclosure.exact_upper
    return float((upper_end - proof.enclosure.exact_lower) / upper_end) if upper_end else 0.0


@planned_in_doubles
def contour_delta(product: GaussianProduct, epsilon: Fraction, accuracy: float = ACCURACY) -> Proof:
    """Enclose δ(ε) of one product of pairs; arguments and errors as for :func:`contour_epsilon`, ε >= 0."""
    if losses_stay_below(product, epsilon):
        return Proof(Enclosure.exactly(0, "bounded losses"), "closed form")
    if quick_log_delta(product, float(epsilon), precise=False) < _DEEPEST:
        raise Declined(f"log δ is below {_DEEPEST:g}")
    plan = settled_plan(product, epsilon=float(epsilon), accuracy=accuracy)
    with working(plan.precision):
        return _delta_on(ContourCurve(plan), epsilon)


def contour_deltas(
    product: GaussianProduct, epsilons: Sequence[Fraction], accuracy: float = ACCURACY
) -> dict[Fraction, Proof]:
    """Enclose δ(ε) at many ε >= 0, of one product of pairs, from as few contours as will do.

    Where none serves several of them, or does not serve one of them well, an ε is left out.
    """
    asked = sorted(epsilon for epsilon in set(epsilons) if not losses_stay_below(product, epsilon))
    if len(asked) < _FEWEST:
        return {}
    try:
        plan = shared_plan(product, [float(epsilon) for epsilon in asked], accuracy)
    except TooDearError:
        looser = _LOOSER * accuracy
        return contour_deltas(product, asked, looser) if looser <= _LOOSEST else {}
    except Declined:
        middle = len(asked) // 2
        return contour_deltas(product, asked[:middle], accuracy) | contour_deltas(product, asked[middle:], accuracy)
    with working(plan.precision), contextlib.suppress(Declined):
        curve = ContourCurve(plan)
        found = {epsilon: _delta_on(curve, epsilon) for epsilon in asked}
        return {epsilon: proof for epsilon, proof in found.items() if _relative_width(proof) <= _SERVED * accuracy}
    return {}


def _delta_on(curve: ContourCurve, epsilon: Fraction) -> Proof:
    lower, above = curve(epsilon)
    if not (lower.is_finite() and above.is_finite()):
        raise Declined("the integral lost all accuracy")
    return _proof(curve, Enclosure.from_balls(lower, above, "contour", curve.plan.precision).within(0, 1), epsilon)


def contour_at_most(product: GaussianProduct, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether a cheap bound proves δ(ε) <= δ. False means "not proven". A few milliseconds at most."""
    if losses_stay_below(product, epsilon):
        return True
    for softness in _CHERNOFF_SOFTNESSES:
        with contextlib.suppress(Declined):
            if chernoff_bound(product, epsilon, _log(delta), softness) <= delta:
                return True
    return False


@planned_in_doubles
def chernoff_bound(product: GaussianProduct, epsilon: Fraction, log_delta: float, softness: float = 1.0) -> Fraction:
    """Return the upper bound c_s e^{-sε} Π M_i(s)^{T_i} + (mass removed by cut-offs) on δ(ε), with one tilt s.

    From (1 - e^{-t})_+ <= c_s e^{st} with c_s = s^s/(s+1)^{s+1}. Errors as for :func:`contour_epsilon`.

    Args:
        product: Pairs with multiplicities, one direction.
        epsilon: At least 0.
        log_delta: Largest useful bound; the cut-offs are placed accordingly.
        softness: Softness of the cut-offs; any positive one is sound.
    """
    plan = chernoff_plan(product, float(epsilon), log_delta, softness)
    with working(plan.precision):
        parts = [Moments(nodes) for nodes in plan.nodes]
        s = arb(plan.tilt)
        need(s > 0, "the tilt is positive")
        total = _peak(s) * (s * (s + 1) * ball(plan.squared_shift) / 2 - s * ball(epsilon)).exp()
        for part in parts:
            total = total * upper(part.at_real(plan.tilt)) ** part.count
        total = sum((part.count * part.cut_mass() for part in parts), total)
        need(total.is_finite(), "the bound is finite")
        return ball_end(total, "up")


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
