"""Certified numbers below two CPU seconds each: accounts of every kind, and what is derived from them."""

from __future__ import annotations

import dpbounds as dp
from tests.golden import accounts, adapters
from tests.golden.mechanisms import RELATIONS, made, runs, toeplitz
from tests.golden.recording import Answer, enclosed

_ADD_OR_REMOVE, _REPLACE, _ = RELATIONS


def questions():
    """All of them, in order."""
    yield from accounts.questions("accounts.txt")
    for part in (_curves, _groups, _renyi, _by_methods, _notions, _theorems, _tuning, _calibrations, _others):
        yield from part()


def at_most(value):
    """An upper bound: a smaller one is narrower."""
    return 0, value


def at_least(value):
    """A lower bound on a number that 1 bounds."""
    return value, 1


def _curves():
    epsilons = (0, "1/2", 1, 2, 4)
    for relation, expression in (
        (_ADD_OR_REMOVE, 'gaussian("1.5") ** 3'),
        (_ADD_OR_REMOVE, 'poisson(gaussian(1), "0.01") ** 100'),
        (_ADD_OR_REMOVE, 'poisson(laplace(2), "0.1") ** 10'),
        (_REPLACE, "discrete_gaussian(4, 1, 1) ** 5"),
        (_REPLACE, "response(1) ** 9"),
    ):
        mechanism = made(expression)

        def curve(mechanism=mechanism, relation=relation):
            found = dp.delta_curve(mechanism, epsilons, relation)
            return enclosed(**{f"delta at {at}": one for at, one in zip(epsilons, found, strict=True)})

        def trade_off(mechanism=mechanism, relation=relation):
            found = dp.TradeOff.of(mechanism, epsilons, relation)
            return Answer(ends={f"at {error}": at_least(found(error)) for error in ("0", "0.05", "1/3", "0.9")})

        yield f"curve: {expression}, {relation}", curve
        yield f"trade-off: {expression}, {relation}", trade_off
        yield (
            f"advantage: {expression}, {relation}",
            lambda mechanism=mechanism, relation=relation: enclosed(
                advantage=dp.membership_advantage(mechanism, relation)
            ),
        )


def _groups():
    for size, relation, expression in (
        (2, _ADD_OR_REMOVE, "gaussian(9) ** 1"),
        (5, _REPLACE, "laplace(20) ** 2"),
        (3, _ADD_OR_REMOVE, 'poisson(gaussian(2), "0.01") ** 20'),
        (2, _REPLACE, "without_replacement(gaussian(2), 2, 20) ** 1"),
        (2, _ADD_OR_REMOVE, "discrete_gaussian(9, 1, 1) ** 1"),
        (4, _REPLACE, 'response("1/4") ** 1'),
        (3, _REPLACE, 'zcdp("1/100") ** 1'),
        (3, _ADD_OR_REMOVE, "blocks(gaussian(9), gaussian(12)) ** 1"),
        (2, _REPLACE, 'last_iterate(gaussian(9), 5, 2, "0.1") ** 1'),
    ):
        yield (
            f"group of {size}: {expression}, {relation}",
            lambda size=size, relation=relation, e=expression: enclosed(
                epsilon=dp.group_account(made(e), size, delta="1e-5", relation=relation)
            ),
        )


_SEVERAL = (
    (_ADD_OR_REMOVE, "gaussian(3) ** 10"),
    (_REPLACE, "laplace(3, 1) ** 10"),
    (_ADD_OR_REMOVE, 'poisson(gaussian(1), "0.01") ** 1000'),
    (_REPLACE, 'poisson(gaussian(1), "0.01") ** 100'),
    (_ADD_OR_REMOVE, "discrete_gaussian(5, 2, 3) ** 4"),
    (_REPLACE, 'exponential("1/10") ** 30'),
    (_REPLACE, 'response("1/5") ** 30'),
    (_ADD_OR_REMOVE, '(gaussian(5) ** 3) @ (poisson(laplace(4), "0.05") ** 10)'),
    (_REPLACE, 'correlated(4, toeplitz([1, "1/2"], 40), "fixed-order", separation=10) ** 1'),
)


def _renyi():
    for relation, expression in _SEVERAL:
        name = f"{expression}, {relation}"
        yield (
            f"Rényi epsilon: {name}",
            lambda r=relation, e=expression: _converted(adapters.renyi_epsilon(made(e), "1e-6", r)),
        )
        yield f"Rényi delta: {name}", lambda r=relation, e=expression: _converted(adapters.renyi_delta(made(e), 2, r))
        yield (
            f"Rényi curve: {name}",
            lambda r=relation, e=expression: Answer(
                ends={
                    f"order {order}": at_most(adapters.renyi_curve(made(e), r).upper(order))
                    for order in ("5/4", 2, 10, 100)
                }
            ),
        )
        yield (
            f"zCDP: {name}",
            lambda r=relation, e=expression: Answer(ends={"rho": at_most(adapters.zcdp_rho(made(e), r))}),
        )


def _converted(found):
    ends = {"value": (found.enclosure.exact_lower, found.enclosure.exact_upper)}
    return Answer({"two-sided": found.two_sided}, ends, {"method": found.enclosure.method, "order": found.order})


def _by_methods():
    for relation, expression in (_SEVERAL[0], _SEVERAL[2], _SEVERAL[6]):
        for method in adapters.METHODS:
            for given in ({"delta": "1e-5"}, {"epsilon": 1}):
                yield (
                    f"method {method}, {given}: {expression}, {relation}",
                    lambda r=relation, e=expression, m=method, g=given: _of_method(
                        dp.by_method(m, made(e), relation=r, **g)
                    ),
                )


def _of_method(found):
    one = found.enclosure
    return Answer(found.value, {} if one is None else {"value": (one.exact_lower, one.exact_upper)}, found.why)


def _notions():
    known = {
        "pure": ("pure", "1/2", _REPLACE),
        "pure, add or remove": ("pure", "1/2", _ADD_OR_REMOVE),
        "approximate": ("approximate", "1/3", "1e-7", _REPLACE),
        "zcdp": ("zcdp", "1/20", _REPLACE),
        "renyi": ("renyi", [(2, "1/10"), (8, "1/2"), (32, 3)], _REPLACE),
        "gaussian": ("gaussian", "1/3", _REPLACE),
        "gaussian, add or remove": ("gaussian", "1/3", _ADD_OR_REMOVE),
        "range": ("range", "1/2", _REPLACE),
        "variation": ("variation", "1/9", _REPLACE),
    }
    goals = {
        "pure": ("pure", {}),
        "epsilon": ("approximate", {"delta": "1e-6"}),
        "delta": ("approximate", {"epsilon": 1}),
        "zcdp": ("zcdp", {}),
        "renyi": ("renyi", {"orders": (2, 5)}),
        "gaussian": ("gaussian", {}),
        "variation": ("variation", {}),
        "epsilon of groups of 3": ("approximate", {"delta": "1e-6", "group": 3}),
        "epsilon, replace": ("approximate", {"delta": "1e-6", "relation": _REPLACE}),
    }
    for name, (kind, *given) in known.items():
        for goal, (to, more) in goals.items():

            def conversion(kind=kind, given=given, to=to, more=more):
                parameters, steps = adapters.converted(adapters.NOTIONS[kind](*given), to, **more)
                return Answer(None, {f"parameter {at}": at_most(value) for at, value in enumerate(parameters)}, steps)

            yield f"convert {name} to {goal}", conversion
    for form in ("tight", "classical"):
        yield (
            f"zCDP to epsilon, {form}",
            lambda form=form: Answer(ends={"epsilon": at_most(adapters.zcdp_epsilon("1/8", "1e-6", form))}),
        )
    yield "zCDP budget", lambda: Answer(ends={"rho": at_least(adapters.zcdp_budget(1, "1e-6"))})
    yield "Gaussian budget", lambda: Answer(ends={"squared mu": at_least(adapters.gaussian_budget(1, "1e-6"))})


def _theorems():
    parts = adapters.parts(("1/10", 0, 30), ("1/4", "1e-9", 3))
    for name, theorem in adapters.THEOREMS.items():
        yield f"composition, {name}", lambda theorem=theorem: enclosed(epsilon=theorem(parts, "1e-6"))
    yield "composition, optimal delta", lambda: enclosed(delta=adapters.optimal_delta(parts, 2))


def _tuning():
    for expression, relation in (
        ("gaussian(20)", _ADD_OR_REMOVE),
        ("laplace(20)", _REPLACE),
        ('poisson(gaussian(2), "0.01") ** 10', _ADD_OR_REMOVE),
    ):
        yield (
            f"tuned: {expression}, {relation}",
            lambda e=expression, r=relation: enclosed(epsilon=dp.tuned_enclosure(made(e), runs("1/10"), "1e-6", r)),
        )
        yield (
            f"tuned over 8: {expression}, {relation}",
            lambda e=expression, r=relation: enclosed(epsilon=adapters.tuned_fixed(made(e), 8, "1e-6", r)),
        )
    for eta in (0, 1, 3):
        yield (
            f"tuned pure, eta {eta}",
            lambda eta=eta: Answer(ends={"epsilon": at_most(dp.tuned_pure("1/4", runs("1/50", eta)))}),
        )
        yield f"mean number of runs, eta {eta}", lambda eta=eta: enclosed(mean=runs("1/50", eta).mean)


def bracket(found):
    """The interval between what suffices and what an attack breaks."""
    broken, largest = found.fails_at, found.solve not in ("noise", "batches")
    if largest:
        return found.value, float("inf") if broken is None else broken
    return 0 if broken is None else broken, found.value


def calibration(found):
    """The answer of a calibration."""
    ends = {"value": bracket(found), "epsilon": (found.epsilon.exact_lower, found.epsilon.exact_upper)}
    told = {"mechanism": found.mechanism, "method": found.epsilon.method}
    return Answer({"complete": found.complete}, {"value": ends["value"]}, told)


def _calibrations():
    for solve, relation, expression in (
        ("noise", _ADD_OR_REMOVE, "gaussian({}) ** 1"),
        ("noise", _REPLACE, "laplace({}) ** 3"),
        ("noise", _ADD_OR_REMOVE, 'poisson(gaussian({}), "0.01") ** 100'),
        ("noise", _REPLACE, "discrete_laplace({}) ** 1"),
        ("steps", _ADD_OR_REMOVE, "gaussian(30) ** {}"),
        ("sample-rate", _ADD_OR_REMOVE, "poisson(gaussian(1), {}) ** 50"),
    ):
        yield (
            f"calibrate {solve}: {expression}, {relation}",
            lambda s=solve, r=relation, e=expression: calibration(dp.calibrate(factory(e, s), 1, "1e-5", r, solve=s)),
        )
    yield (
        "calibrate to zCDP",
        lambda: Answer(ends={"noise": at_most(dp.calibrate_to_zcdp(lambda z: dp.Gaussian(z) ** 8, "1/3"))}),
    )
    yield "calibrate to total variation", lambda: calibration(dp.calibrate_to_total_variation(dp.Gaussian, "0.1"))
    yield "calibrate to a curve", lambda: calibration(dp.calibrate_to_curve(dp.Gaussian, [(1, "1e-5"), (0, "1/5")]))


def factory(expression, solve):
    """From a parameter to the mechanism of an expression with a place for it."""
    return lambda value: made(expression.format(value if solve in ("steps", "batches") else f'"{value}"'))


def _others():
    descent = dp.BallDescent(1, 10, 100000, 1000)
    yield "ball: radius", lambda: Answer(ends={"radius": at_most(descent.radius("1e-3").value)}, text=descent)
    yield "ball: delta", lambda: Answer(ends=enclosed(delta=descent.delta(90)).ends)
    yield "ball: total variation", lambda: Answer(ends=enclosed(delta=descent.total_variation(90)).ends)
    for kind in ("mean", "largest"):
        yield (
            f"prefix error, {kind}",
            lambda kind=kind: enclosed(error=dp.prefix_error(toeplitz("square-root", 64, 8), kind)),
        )
    yield "hidden constant", lambda: enclosed(constant=dp.hidden_constant("0.01", 1000, 1, "1e-5"))
    yield "shuffled epochs", lambda: enclosed(epsilon=dp.epsilon(dp.shuffled_epochs(9, 3), "1e-5", _REPLACE))
    yield "remaining", lambda: _remaining(dp.remaining(made("gaussian(9) ** 10"), 2, "1e-5"))


def _remaining(found):
    most = float("inf") if found.too_many is None else found.too_many
    return Answer(
        {"within": found.within},
        {"more": (found.more, most), "noise": bracket(found.noise)},
        {"last": found.last, "method": found.spent.enclosure.method},
    )
