"""The memory of training steps in PyTorch, measured, for a small MLP.

256-512-512-10, f32, batch 64, cross entropy, on the CPU: what is allocated at
most beside parameters, inputs, labels and the optimizer's state.
"""

import argparse
import json

import torch
from torch import nn
from torch_memory import measure

BATCH = 64


def make(frozen: bool = False) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(256, 512), nn.ReLU(),
        nn.Linear(512, 512), nn.ReLU(),
        nn.Linear(512, 10),
    )  # fmt: skip
    if frozen:
        for parameter in model[:4].parameters():
            parameter.requires_grad_(False)
    return model


def step_of(model, optimizer, x, y):
    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def forward_of(model, x):
    def forward():
        with torch.no_grad():
            model(x)

    return forward


def cases():
    x = torch.randn(BATCH, 256)
    y = torch.randint(0, 10, (BATCH,))
    yield "inference", forward_of(make(), x)
    model = make()
    yield "sgd", step_of(model, torch.optim.SGD(model.parameters(), lr=0.1), x, y)
    for name, options in {
        "adam, one tensor at a time": {"foreach": False},
        "adam, foreach": {"foreach": True},
        "adam, fused": {"fused": True},
    }.items():
        model = make()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **options)
        yield name, step_of(model, optimizer, x, y)
    model = make(frozen=True)
    trained = [p for p in model.parameters() if p.requires_grad]
    yield "sgd, last layer only", step_of(model, torch.optim.SGD(trained, lr=0.1), x, y)
    model = make(frozen=True)
    trained = [p for p in model.parameters() if p.requires_grad]
    yield "adam, last layer only", step_of(
        model, torch.optim.Adam(trained, lr=1e-3, foreach=False), x, y
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    parameters = sum(p.numel() * p.element_size() for p in make().parameters())
    hidden = BATCH * 512 * 4
    rows = {name: measure(step).peak for name, step in cases()}
    if options.json:
        print(json.dumps({"torch": torch.__version__, "parameters": parameters,
                          "hidden": hidden, "peaks": rows}, indent=1))
        return
    print(f"PyTorch {torch.__version__}: P = {parameters:,} B of parameters, "
          f"H = {hidden:,} B one hidden activation")
    for name, peak in rows.items():
        print(f"{name:28} {peak:12,} B = P x {peak / parameters:.4f} "
              f"= P + {peak - parameters:,}")


if __name__ == "__main__":
    main()
