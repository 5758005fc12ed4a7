"""The memory of a model, before it runs.

Exporters write a model as MLIR text; `report` asks es-opt what it needs.
"""

from .jax_export import from_jax
from .report import (
    Buffer,
    Donation,
    EsOptError,
    Function,
    Graph,
    Growth,
    Parameters,
    PeakOp,
    Report,
    report,
)
from .torch_export import from_torch

__all__ = [
    "Buffer",
    "Donation",
    "EsOptError",
    "Function",
    "Graph",
    "Growth",
    "Parameters",
    "PeakOp",
    "Report",
    "from_jax",
    "from_torch",
    "report",
]
