"""A small VOCdevkit: noisy images with coloured shapes, some of several classes, some difficult."""

import numpy as np

CLASSES = ("bird", "cat", "dog")
COLOURS = {"bird": (230, 30, 30), "cat": (30, 60, 230)}  # dogs are not drawn: their labels are random
WORDS = {1: " 1", 0: "-1", -1: " 0"}


def write_devkit(folder, year=2007, parts=("train", "val", "trainval", "test"), n_images=30, seed=0):
    """Write images and lists as in the real devkit; return its folder and the labels (1, 0, -1) of every part."""
    home = folder / "VOCdevkit" / f"VOC{year}"
    (home / "ImageSets" / "Main").mkdir(parents=True)
    (home / "JPEGImages").mkdir()
    rng = np.random.default_rng(seed)
    ids = {part: [f"{seed:02d}{p}{i:03d}" for i in range(n_images)] for p, part in enumerate(parts)}
    labels = {part: _draw_labels(rng, n_images) for part in parts}
    for part in parts:
        if part != "trainval":
            for name, row in zip(ids[part], labels[part], strict=True):
                _picture(rng, row).save(home / "JPEGImages" / f"{name}.jpg", quality=95)
    if {"train", "val", "trainval"} <= set(parts):  # as in the real devkit, trainval is train and val
        ids["trainval"] = ids["train"] + ids["val"]
        labels["trainval"] = np.concatenate([labels["train"], labels["val"]])
    for part in parts:
        for k, name in enumerate(CLASSES):
            lines = [f"{image} {WORDS[label]}\n" for image, label in zip(ids[part], labels[part][:, k], strict=True)]
            (home / "ImageSets" / "Main" / f"{name}_{part}.txt").write_text("".join(lines))
    return folder / "VOCdevkit", labels


def _draw_labels(rng, n_images):
    labels = rng.choice([0, 1, -1], p=[0.55, 0.35, 0.1], size=(n_images, len(CLASSES)))
    labels[:2] = [[1, 0, 1], [0, 1, 0]]  # every class has images with and without it
    return labels


def _picture(rng, row):
    """Draw a coloured square for every class that the image shows, and a tiny one for a difficult class."""
    from PIL import Image, ImageDraw

    width, height = (48, 36) if rng.random() < 0.5 else (36, 48)
    picture = Image.fromarray(rng.integers(90, 166, size=(height, width, 3), dtype=np.uint8))
    draw = ImageDraw.Draw(picture)
    for k, name in enumerate(CLASSES):
        if name in COLOURS and row[k]:
            side = 12 if row[k] == 1 else 3
            left, top = 6 + 12 * k + rng.integers(0, 3), 10 + rng.integers(0, 6)
            draw.rectangle((left, top, left + side, top + side), fill=COLOURS[name])
    return picture
