"""How tight each bound is: a bound beside a problem on which what it bounds is computed, with proof."""
