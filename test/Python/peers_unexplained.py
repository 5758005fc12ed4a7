"""What must not count as explained: an outlier that no rule accounts for, and one
whose named bytes do not make up the difference."""

import dataclasses
import sys

sys.path.insert(0, sys.argv[1])
import jax_peers
import xla_causes

row = jax_peers.compare("elementwise")
assert row.is_outside and row.is_explained, row

# XLA has 2,097,152 B, of which 1,048,576 are named. A quarter of XLA's is 524,288:
# es-opt may say 524,288 to 1,572,864.
assert not dataclasses.replace(row, fused=524_287).is_explained
assert dataclasses.replace(row, fused=524_288).is_explained

# Rules that find nothing explain nothing.
xla_causes.CAUSES.clear()
assert not jax_peers.compare("elementwise").is_explained
sys.argv = ["jax_peers.py", "elementwise"]
assert jax_peers.main() == 1
