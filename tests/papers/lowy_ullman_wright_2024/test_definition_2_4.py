"""Definition 2.4."""

from tests.papers.reference_formulas import evaluated


def test_the_threshold_scales_like_a_hessian():
    """w³ρ/6 has gradient ρw²/2 and second derivative ρw: at w = -√(2α/ρ) the gradient is α, the curvature -√(2ρα)."""
    rho, alpha = 3, 0.02
    w = -((2 * alpha / rho) ** 0.5)
    threshold = float(
        evaluated("lowy-ullman-wright-2024/definition-2.4")("curvature", rho_H=rho, alpha="0.02").value.lower
    )
    assert abs(rho * w**2 / 2 - alpha) < 1e-15  # a first-order stationary point
    assert rho * w < threshold  # but not a second-order one
