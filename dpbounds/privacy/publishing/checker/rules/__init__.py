"""How δ of a composition is enclosed: one file per rule of proof."""
