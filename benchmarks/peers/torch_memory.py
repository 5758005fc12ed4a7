"""The memory that PyTorch allocates on the CPU, event by event."""

import dataclasses
import gc

import torch
from torch.profiler import ProfilerActivity, profile

#: Operators whose library, oneDNN, allocates tensors in layouts of its own; products
#: only where it runs them: in bf16, on some machines.
LIBRARY_OPERATORS = {
    "aten::conv2d",
    "aten::conv_transpose2d",
    "aten::convolution",
    "aten::convolution_backward",
    "aten::linear",
}


@dataclasses.dataclass
class Scratch:
    """What an operator of a library used while it ran and freed again."""

    operator: str
    bytes: int


@dataclasses.dataclass
class Usage:
    """What a call allocated beyond what was there before it."""

    #: The most that was allocated at once.
    peak: int
    #: The same if operators of libraries allocated nothing but their results.
    peak_without_scratch: int
    scratch: list[Scratch]


def _outermost(events, names):
    """Spans of the operators of these names that are in no other such span."""
    spans = []
    for event in events:
        if event.name() in names and not (spans and event.start_ns() < spans[-1][1]):
            end = event.start_ns() + event.duration_ns()
            spans.append((event.start_ns(), end, event.name()))
    return spans


def _account(events) -> Usage:
    spans = _outermost(events, LIBRARY_OPERATORS)
    live = peak = reduced = 0
    scratch = []
    changes = [e for e in events if e.name() == "[memory]"]
    position = 0
    while position < len(changes):
        at = changes[position].start_ns()
        span = next((s for s in spans if s[0] <= at <= s[1]), None)
        before, most = live, 0
        while position < len(changes):
            event = changes[position]
            if span and event.start_ns() > span[1]:
                break
            live += event.nbytes()
            most = max(most, live)
            position += 1
            if not span:
                break
        peak = max(peak, most)
        reduced = max(reduced, live)
        if span:
            scratch.append(Scratch(span[2], most - max(before, live)))
    return Usage(peak, reduced, scratch)


def measure(fn) -> Usage:
    """Runs `fn` once to warm up, then counts the allocator's events."""
    fn()
    gc.collect()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        result = fn()
    events = prof.profiler.kineto_results.events()
    usage = _account(sorted(events, key=lambda event: event.start_ns()))
    del result
    return usage
