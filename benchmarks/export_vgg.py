"""Export VGG-16 or VGG-19 to ONNX, with the activations of the last hidden layer as an output called fc7.

    python benchmarks/export_vgg.py --weights vgg16-00b39a1b.pth vgg16.onnx
    python benchmarks/export_vgg.py --depth 19 --weights vgg19-d01eb7cb.pth vgg19.onnx
    python benchmarks/export_vgg.py --untrained vgg16.onnx        # random weights, to try the rest

It needs PyTorch, onnx and onnxscript (pip install torch onnx onnxscript), which are no part of ilfs. The layers are
those of configurations D and E of K. Simonyan, A. Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
Recognition", ICLR 2015. Weights are a state dict with torchvision's names: features.0.weight ... classifier.6.bias.
The exported file is compared with PyTorch on random images if onnxruntime is installed.
"""

import argparse
import hashlib
from pathlib import Path

import torch
from torch import nn

CHANNELS = (64, 128, 256, 512, 512)  # of the five blocks; a block ends with a maximum over 2 x 2 pixels
CONVOLUTIONS = {16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}  # of each block, all 3 x 3
N_HIDDEN = 4096
PIXELS = 224
# The conversion of the authors' Caffe networks numbers the layers of the classifier as older versions of torchvision.
OLD_NAMES = {
    f"classifier.{old}.{kind}": f"classifier.{new}.{kind}"
    for old, new in ((1, 0), (4, 3))
    for kind in ("weight", "bias")
}
TOLERANCE = 1e-3  # largest difference of two activations, relative to the largest activation


class VGG(nn.Module):
    """The network, with two outputs: the thousand classes, and the 4096 features before them."""

    def __init__(self, depth):
        super().__init__()
        self.features = convolutions(CONVOLUTIONS[depth])
        self.classifier = nn.Sequential(
            nn.Linear(CHANNELS[-1] * 7 * 7, N_HIDDEN),
            nn.ReLU(),
            nn.Dropout(),
            nn.Linear(N_HIDDEN, N_HIDDEN),
            nn.ReLU(),
            nn.Dropout(),
            nn.Linear(N_HIDDEN, 1000),
        )

    def forward(self, images):
        """Compute the outputs for a batch of 224 x 224 pixels."""
        maps = self.features(images)
        fc7 = self.classifier[:5](maps.flatten(1))  # up to the second ReLU
        return self.classifier[5:](fc7), fc7


def convolutions(n_in_blocks):
    """Make the convolutional layers; their positions are those in torchvision's names."""
    layers, n_before = [], 3
    for n_layers, n_channels in zip(n_in_blocks, CHANNELS, strict=True):
        for _ in range(n_layers):
            layers += [nn.Conv2d(n_before, n_channels, kernel_size=3, padding=1), nn.ReLU()]
            n_before = n_channels
        layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


def load_weights(network, path):
    """Load a state dict, with the names of torchvision or its older names."""
    print(f"{path.name}: SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}")
    state = torch.load(path, map_location="cpu", weights_only=True)
    if "classifier.1.weight" in state:
        state = {OLD_NAMES.get(name, name): tensor for name, tensor in state.items()}
    network.load_state_dict(state)


def randomise(network):
    """Draw weights that keep the scale of the activations from layer to layer."""
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)


def export(network, path):
    """Write the ONNX file, for batches of any size."""
    torch.onnx.export(
        network,
        (torch.zeros(2, 3, PIXELS, PIXELS),),
        str(path),
        input_names=["image"],
        output_names=["logits", "fc7"],  # the last output is the one that ilfs takes by default
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        external_data=False,
        dynamo=True,
    )


def check(network, path):
    """Compare the file with PyTorch on three random images."""
    try:
        import onnxruntime
    except ImportError:
        print("not compared with PyTorch: onnxruntime is not installed")
        return
    images = torch.randn(3, 3, PIXELS, PIXELS)
    with torch.no_grad():
        expected = network(images)[1].numpy()
    found = onnxruntime.InferenceSession(str(path)).run(["fc7"], {"image": images.numpy()})[0]
    difference = abs(found - expected).max() / abs(expected).max()
    print(f"fc7 of 3 images: {found.shape}, largest relative difference from PyTorch {difference:.1e}")
    if difference > TOLERANCE:
        raise SystemExit(f"the exported network must agree with PyTorch up to {TOLERANCE}, it differs by {difference}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, metavar="FILE.onnx")
    parser.add_argument("--depth", type=int, choices=CONVOLUTIONS, default=16, help="number of layers with weights")
    weights = parser.add_mutually_exclusive_group(required=True)
    weights.add_argument("--weights", type=Path, metavar="FILE.pth", help="state dict with the names of torchvision")
    weights.add_argument("--untrained", action="store_true", help="random weights")
    options = parser.parse_args()
    torch.manual_seed(0)
    network = VGG(options.depth).eval()
    if options.weights:
        load_weights(network, options.weights)
    else:
        randomise(network)
    export(network, options.output)
    print(f"{options.output}: {options.output.stat().st_size / 1e6:.0f} MB")
    check(network, options.output)


if __name__ == "__main__":
    main()
