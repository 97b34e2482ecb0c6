"""torchvision.datasets.folder: images in folders that are their classes."""
import os

from ...missing import namespace as _namespace
from ..images import pillow
from .vision import VisionDataset

__all__ = ["DatasetFolder", "IMG_EXTENSIONS", "ImageFolder", "default_loader", "find_classes",
           "has_file_allowed_extension", "is_image_file", "make_dataset", "pil_loader"]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_file_allowed_extension(filename, extensions):
    """Whether the name ends with one of the extensions, a str or a tuple of them, in any case."""
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename):
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory):
    """(The names of the folders in a folder, in order; their numbers by name). FileNotFoundError if there are none."""
    with os.scandir(directory) as entries:
        classes = sorted(entry.name for entry in entries if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: i for i, name in enumerate(classes)}


def make_dataset(directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False):
    """[(path, number of the class)] of the files below the classes' folders, in order, with one of the `extensions`, or
    for whose path `is_valid_file` says yes.

    FileNotFoundError if a class has none, unless `allow_empty`; ValueError unless just one of the two is given.
    """
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        class_to_idx = find_classes(directory)[1]
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    if is_valid_file is None:
        def is_valid_file(path):
            return has_file_allowed_extension(path, extensions)
    found = []
    for name in sorted(class_to_idx):
        for folder, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            paths = (os.path.join(folder, file) for file in sorted(files))
            found += [(path, class_to_idx[name]) for path in paths if is_valid_file(path)]
    numbers = {number for _, number in found}
    empty = [name for name in sorted(class_to_idx) if class_to_idx[name] not in numbers]
    if empty and not allow_empty:
        known = extensions if isinstance(extensions, str) or extensions is None else ", ".join(extensions)
        raise FileNotFoundError(f"Found no valid file for the classes {', '.join(empty)}. "
                                + ("" if known is None else f"Supported extensions are: {known}"))
    return found


def pil_loader(path):
    """The image in a file, in RGB."""
    with open(path, "rb") as file:
        return pillow().open(file).convert("RGB")


def default_loader(path):
    return pil_loader(path)


class DatasetFolder(VisionDataset):
    """The files below root/class/, as `loader` reads them, with the number of the class.

    extensions, is_valid_file   the condition for files: one of the two
    allow_empty                 whether classes may have no files

    `classes`, `class_to_idx`, `samples` [(path, class)] and `targets` describe the contents.
    """

    def __init__(self, root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None,
                 allow_empty=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.classes, self.class_to_idx = self.find_classes(self.root)
        self.samples = self.make_dataset(self.root, class_to_idx=self.class_to_idx, extensions=extensions,
                                         is_valid_file=is_valid_file, allow_empty=allow_empty)
        self.loader, self.extensions = loader, extensions
        self.targets = [number for _, number in self.samples]

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        """Makes `samples`. Subclasses may override it."""
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions=extensions, is_valid_file=is_valid_file,
                            allow_empty=allow_empty)

    def find_classes(self, directory):
        """Finds (`classes`, `class_to_idx`). Subclasses may override it."""
        return find_classes(directory)

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """The images below root/class/, with the number of the class: root/dog/x.png, root/cat/nested/y.jpg ..."""

    def __init__(self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None,
                 allow_empty=False):
        super().__init__(root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform, target_transform,
                         is_valid_file, allow_empty)
        self.imgs = self.samples


__getattr__ = _namespace(__name__)
