"""Integer masses of the steps of a product of pairs, on a lattice, rounded up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpbounds.expressions.exact import to_float
from dpbounds.expressions.working import working
from dpbounds.privacy.pairs.losses import ball
from dpbounds.privacy.pairs.pairs import Product
from dpbounds.privacy.proofs import Declined, planned_in_doubles
from dpbounds.privacy.publishing.kernel.composing import Binary, Kind, Profile, bound
from dpbounds.privacy.routes.lattice import saddle as choices
from dpbounds.privacy.routes.lattice.attempts import Knobs, choose
from dpbounds.privacy.routes.lattice.composed import Choices, Steps
from dpbounds.privacy.routes.lattice.discretisation import upper_atoms
from dpbounds.privacy.routes.lattice.estimates import rough_log_delta
from dpbounds.privacy.routes.lattice.products import cut_sketches, largest_loss_of, sketches_of, steps_of
from dpbounds.privacy.routes.lattice.steps import cut

_FACTOR_BITS = 128


@planned_in_doubles
def chosen_for(product: Product, epsilon: Fraction, refinement: float) -> tuple[Steps, Choices]:
    steps = steps_of(product)
    value = to_float(epsilon, "up")
    limit = largest_loss_of(steps)
    log_delta = rough_log_delta(steps, value, math.inf if limit is None else limit.lower)
    cut_off = log_delta + math.log(1e-4)
    parts = cut_sketches(sketches_of(steps, log_delta), cut_off)
    aim = choices.saddle_for_epsilon(parts, value)
    return steps, choose(parts, aim, 5e-3 * refinement / aim.slope, Knobs())
