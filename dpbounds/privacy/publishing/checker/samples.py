"""One record in a sample, alone (14), (30), or in the place of another one (17), (18)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from dpbounds.privacy.publishing.checker.balls import normal_tail, number
from dpbounds.privacy.publishing.checker.noises import noise_profile, per_bound
from dpbounds.privacy.publishing.checker.profiles import Profile, averaged, gaussian_profile, mirrored, thinned
from dpbounds.privacy.publishing.checker.verdicts import NotCovered


def symmetrised(base: Profile, rate: Fraction) -> Profile:
    """(17) γ h(1 + (α-1)/γ) for α >= 1, mirrored below."""
    gamma = number(rate)
    return mirrored(lambda alpha: gamma * base(1 + (alpha - 1) / gamma), exact=base.exact)


def two_guarantees(present: Profile, replaced: Profile, rate: Fraction) -> Profile:
    """(30) A replaced record in a Poisson sample: q((1-s) h_1 + s h_2) at α' = 1 + (α-1)/q, s = α/α'."""
    q = number(rate)

    def above(alpha: arb) -> arb:
        inner = 1 + (alpha - 1) / q
        return q * ((1 - alpha / inner) * present(inner) + alpha / inner * replaced(inner))

    return mirrored(above, exact=False)


def sampled_laplace(rate: Fraction, shift: Fraction) -> Profile:
    """(30) The same on the line, for Laplace noise: (1-q)f + qf(· - s) against (1-q)f + qf(· + s)."""
    q, s = number(rate), number(shift)
    still = 1 - q + q * (-s).exp()

    def above(alpha: arb) -> arb:
        grown = (alpha * still - (1 - q)) / q  # e^{2t - s} where the ratio is α, for 0 <= t <= s
        t = ((grown.max((-s).exp()).log() + s) / 2).min(s)
        event = (1 - q) * (-t).exp() / 2 + q * (1 - (t - s).exp() / 2) - alpha * (-t).exp() * still / 2
        return event.max(arb(0))

    return mirrored(above)


def zeroed_profile(squared_shift: Fraction, rate: Fraction | arb, order: str) -> Profile:
    """(18) Gaussian noise, a record zeroed in a batch of fixed size (remove), or put back (add)."""
    gamma, s = rate if isinstance(rate, arb) else number(rate), number(squared_shift).sqrt()
    base = gaussian_profile(squared_shift)

    def restored(alpha: arb) -> arb:
        return gamma * base(1 + (alpha - 1) / gamma)

    def zeroed(alpha: arb) -> arb:
        lead, middle = gamma * (-s * s).exp(), gamma * alpha
        w = (middle + (middle**2 + 4 * lead * (alpha - 1) * (1 - gamma)).sqrt()) / (2 * lead)
        t = w.log() / s + s / 2
        event = gamma * (normal_tail(t - 2 * s) - alpha * normal_tail(t - s))
        return event - (alpha - 1) * (1 - gamma) * normal_tail(t)

    return mirrored(*((zeroed, restored) if order == "remove" else (restored, zeroed)))


def sampled_profile(order: str, rate: Fraction, squared_shift: Fraction) -> Profile:
    """A Poisson sample with Gaussian noise."""
    base = gaussian_profile(squared_shift)
    if rate == 1:
        return gaussian_profile(4 * squared_shift) if order == "replace" else base
    if order != "replace":
        return thinned(base, rate) if order == "remove" else thinned(base, rate).reversed()
    q, z = number(rate), 1 / number(squared_shift).sqrt()

    def value(alpha: arb) -> arb:  # with y = e^{t/z}: 1-q + b y > α (1-q + b/y)
        b, c = q * (-1 / (2 * z * z)).exp(), (1 - q) * (alpha - 1)
        start = z * ((c + (c * c + 4 * b * b * alpha).sqrt()) / (2 * b)).log()
        return q * (normal_tail(start - 1 / z) - alpha * normal_tail(start + 1 / z)) - c * normal_tail(start)

    return Profile(value)


def joining(noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
    """(14), (30) A record that is in a Poisson sample with chance ``rate``, beside the others."""
    if noise["kind"] == "gaussian":
        return sampled_profile(order, rate, per_bound(noise))
    if relation != "replace-one":
        sample = thinned(noise_profile(noise, 1), rate)
        return sample if order == "remove" else sample.reversed()
    replaced = noise_profile(noise, 2)
    if noise["kind"] == "randomized-response" or noise.get("sensitivity") is not None:  # of a replacement alone
        q = number(rate)
        return averaged([(1 - rate, gaussian_profile(Fraction(0))), (rate, replaced)]) if q < 1 else replaced
    if noise["kind"] == "laplace" and noise["dimension"] == 1:
        return sampled_laplace(rate, 1 / noise["noise_multiplier"])
    return two_guarantees(noise_profile(noise, 1), replaced, rate)


def displacing(noise: dict[str, Any], order: str, relation: str, rate: Fraction) -> Profile:
    """(17), (18) A record that is in the batch with chance ``rate``, and then displaces another one."""
    if relation == "zero-out-one":
        return zeroed_profile(per_bound(noise), rate, order)
    if noise["kind"] not in ("gaussian", "laplace", "discrete-laplace", "discrete-gaussian") or noise.get(
        "sensitivity"
    ):
        raise NotCovered(f"{noise['kind']} noise on batches of a fixed size, or given by its final distance")
    base = noise_profile(noise, 2)
    if relation == "replace-one":
        return symmetrised(base, rate)
    return thinned(base, rate) if order == "remove" else thinned(base, rate).reversed()
