"""How large an input may be: one place, so that no file and no argument can fill the memory or stall a proof."""

from __future__ import annotations

# --- Numbers ----------------------------------------------------------------------------------------------------------

# --- Files ------------------------------------------------------------------------------------------------------------
