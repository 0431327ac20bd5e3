#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network for handwritten digits: trained dense, pruned to a quarter of its blocks step by step, and trained to the
loss of its dense twin. Needs torch and scikit-learn, whose data set has 1797 images of 8 x 8.
"""

import argparse

import torch
from sklearn.datasets import load_digits

from blocksparse.nn import BlockSparseLinear, magnitude_layout, sparsify_


def load():
    """Returns images and digits for training and for the test."""
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    return x[order[:1437]], y[order[:1437]], x[order[1437:]], y[order[1437:]]


def train(model, x, y, epochs, rate=3e-3):
    """Trains a model and returns the loss over all of the data."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        for part in torch.randperm(len(x)).split(128):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[part]), y[part]).backward()
            optimizer.step()
    with torch.no_grad():
        return torch.nn.functional.cross_entropy(model(x), y).item()


def prune_(model, density):
    """Drops the smallest blocks of every sparse layer, in place."""
    for name, layer in model.named_children():
        if isinstance(layer, BlockSparseLinear):
            linear = layer.to_linear()
            layout = magnitude_layout(linear.weight, layer.layout.block, density)
            setattr(model, name, BlockSparseLinear.from_linear(linear, layer.layout.block, layout=layout))


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=8, help="epochs of each step (%(default)s)")
    epochs = parser.parse_args().epochs
    torch.manual_seed(0)
    x, y, test_x, test_y = load()
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256),
                                torch.nn.ReLU(), torch.nn.Linear(256, 10))
    dense_loss = train(model, x, y, epochs)
    dense_accuracy = accuracy(model, test_x, test_y)
    print(f"dense: loss {dense_loss:.4f}, accuracy {dense_accuracy:.3f}")

    # The last layer has 10 outputs, which the block does not divide: it stays dense.
    assert sparsify_(model, block=16, density=0.7) == ["0", "2"]
    for density in (0.7, 0.45, 0.25):
        prune_(model, density)
        loss = train(model, x, y, epochs)
        print(f"density {density}: loss {loss:.4f}, accuracy {accuracy(model, test_x, test_y):.3f}")
    assert loss <= max(dense_loss, 0.01) and accuracy(model, test_x, test_y) > dense_accuracy - 0.02


if __name__ == "__main__":
    main()
