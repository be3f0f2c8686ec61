"""Sums of clipped gradients on many devices of one kind, by JAX's own sharding; noise is not a matter of theirs.

Every device gets its share of the rows that are asked for, and the program of one device, of one width: so a record's
gradient has the bits that it has there, and only the order in which doubles are added differs. ``clipped_sums.md``
allows any order: what a record can move is the same. Noise is drawn by the oracle, once, on the sum of all shares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbounds.algorithms.problems.differentiable_losses.inputs import demand_doubles
from dpbounds.algorithms.problems.differentiable_losses.problem import Differentiable
from dpbounds.algorithms.problems.differentiable_losses.programs import Compiled, Leaves, Limits, filled, taken_apart
from dpbounds.algorithms.problems.finite_sum import Array, Indices
from dpbounds.errors import InvalidValue, UnsupportedMechanism

_AXIS = "records"


def sharded(problem: Differentiable, devices: Sequence[Any] | None = None) -> Differentiable:
    """Return the same problem, its records spread over devices: same ledger, and the same sums up to their rounding.

    Two sums of m records differ by at most m G (4m + 16) 2^-53 in norm, whatever the number of devices. The memory
    limit is that of each device.

    Args:
        problem: Made by ``differentiable``.
        devices: Devices of this process and of one kind, each once; None: all devices of JAX.

    Raises:
        InvalidValue: No device, one twice, or different kinds of them: these would round gradients in different ways.
        UnsupportedMechanism: Doubles there are not IEEE's; or a device is another process's, which would draw noise of
            its own on the same sum (``jax.distributed``).
    """
    import jax

    chosen = list(jax.devices() if devices is None else devices)
    kinds = sorted({f"{each.platform} {each.device_kind}" for each in chosen})
    if not chosen or len(set(chosen)) < len(chosen) or len(kinds) > 1:
        told = ", ".join(map(str, chosen))
        raise InvalidValue(
            "devices", told, "devices of one kind, each once", "devices of different kinds round gradients differently"
        )
    demand_doubles(chosen[0].platform)
    if any(each.process_index != jax.process_index() for each in chosen):
        why = "every process would draw noise of its own on the same sum: devices of one process, jax.local_devices()"
        raise UnsupportedMechanism(why)
    own = problem.compiled
    if isinstance(own, Sharded) and own.single is not None:
        own = own.single
    return dataclasses.replace(problem, compiled=Sharded.of(own, chosen))


@dataclass(slots=True, eq=False)
class Sharded(Compiled):
    """``Compiled`` over a mesh of devices; a call takes as many rows as one device's does, on every device.

    Attributes:
        single: The programs of one device.
        mesh: The mesh, of one axis.
    """

    single: Compiled | None = None
    mesh: Any = None

    @classmethod
    def of(cls, single: Compiled, devices: list[Any]) -> Sharded:
        """Return the programs of one device, on each of these."""
        from jax.sharding import Mesh

        given = {each.name: getattr(single, each.name) for each in dataclasses.fields(Compiled)}
        given |= {"chunk": single.chunk * len(devices), "resident": (), "made": {}}
        return cls(**given, single=single, mesh=Mesh(np.array(devices), (_AXIS,)))

    def _in_doubles(
        self,
        what: str,
        points: list[Array],
        leaves: Leaves,
        rows: Indices,
        limits: Limits,
        width: int,
        lanes: int,
    ) -> tuple[Array, int]:
        import jax
        from jax.sharding import NamedSharding, PartitionSpec

        assert self.single is not None
        devices = self.mesh.size
        if width % devices:
            return self.single._in_doubles(what, points, leaves, rows, limits, width, lanes)
        share = width // devices
        each = min(lanes, share)  # Hessians have all rows in one block
        split, whole = PartitionSpec(_AXIS), PartitionSpec()
        dealt = np.arange(width).reshape(share, devices).T.ravel()  # in turn, so that few rows are many devices'
        given = [point.astype(self.dtype) for point in points]
        if (what, each) not in self.made:
            shapes = [jax.ShapeDtypeStruct(point.shape, point.dtype) for point in given]
            inner = self.single.program(what, shapes, leaves, each)

            def on_one(points: Any, rows: Any, count: Any, limits: Any) -> Any:
                places = jax.numpy.append(jax.numpy.arange(share, dtype="int32"), count)
                return inner(points, rows, places, limits)[None]

            spread = jax.shard_map(
                on_one, mesh=self.mesh, in_specs=(whole, split, split, whole), out_specs=split, check_vma=False
            )
            self.made[what, each] = jax.jit(spread)
        places = NamedSharding(self.mesh, split)
        counts = ((len(rows) - np.arange(devices) + devices - 1) // devices).astype(np.int32)
        with jax.enable_x64(True):
            chunks = [filled(leaf, rows, width, lanes * devices)[dealt] for leaf in leaves]
            spread_rows = [jax.device_put(chunk, places) for chunk in chunks]
            parts = self.made[what, each](given, spread_rows, jax.device_put(counts, places), np.array(limits))
            made: Array = np.asarray(parts)  # a row per device: nothing is added but here
        return taken_apart(made.sum(axis=0))
