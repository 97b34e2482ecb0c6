"""Transforms of images of Pillow and of tensors, beside torchvision's: results, random draws, words."""
import inspect

import pytest

from .vision import both, image, pixels, torchvision

#: Constructors, by name: each is applied to images and tensors, with several seeds.
TRANSFORMS = """
Resize(7)                Resize((9, 30))                 Resize([5], max_size=6)
Resize(40, InterpolationMode.BICUBIC)
Resize(20, InterpolationMode.NEAREST)                    Resize((6, 8), 3)          Resize((9, 30), antialias=False)
Resize((6, 8), InterpolationMode.NEAREST_EXACT)          Resize((6, 8), InterpolationMode.LANCZOS)
Resize(13)               CenterCrop(5)                   CenterCrop((20, 8))        CenterCrop([19, 25])
Pad(2)                   Pad((1, 2), fill=7)             Pad([1, 2, 3, 4], padding_mode='edge')
Pad(3, padding_mode='reflect')                           Pad([2], padding_mode='symmetric')
Pad([-1, 2, 3, -2], padding_mode='symmetric')            Pad([-1, 2, 3, -2], padding_mode='edge')
Pad([-1, 2, 3, -2])      RandomCrop(6)                   RandomCrop((5, 9), padding=4)
RandomCrop(20, pad_if_needed=True, padding_mode='edge')  RandomCrop(30)
RandomHorizontalFlip()   RandomVerticalFlip(0.4)         RandomResizedCrop(8)
RandomResizedCrop((5, 6), scale=(0.5, 3.0), ratio=(0.2, 5))                         RandomResizedCrop(8, (2., 3.))
FiveCrop(6)              FiveCrop((4, 30))               TenCrop((5, 4))            TenCrop(5, vertical_flip=True)
RandomRotation(30)       RandomRotation((10, 90), InterpolationMode.BILINEAR, expand=True)
RandomRotation(45, fill=100, center=(3, 4))              RandomRotation(20, fill=[1, 2, 3], expand=True)
RandomAffine(20)         RandomAffine((-5, 5), (0.1, 0.3), (0.5, 2), 10, InterpolationMode.BILINEAR, fill=9)
RandomAffine(0, shear=(-5, 5, -10, 10), center=(1, 2))
RandomPerspective(p=1.0) RandomPerspective(0.9, 0.7, InterpolationMode.NEAREST, fill=50)
ColorJitter()            ColorJitter(0.5)                ColorJitter(0.4, 0.3, (0.2, 3), 0.2)
ColorJitter(hue=(-0.5, 0.5), contrast=(2, 3))
Grayscale()              Grayscale(3)                    RandomGrayscale(0.6)       GaussianBlur(3)
GaussianBlur((5, 3), 1.5)                                RandomInvert()             RandomPosterize(3)
RandomSolarize(100)      RandomAdjustSharpness(2.5, 1)   RandomAdjustSharpness(0.2) RandomAutocontrast(1)
RandomEqualize(1)        ElasticTransform(8.0, 1.0)      ElasticTransform([9.0, 2.0], [1.0, 0.0], 0, fill=3)
RandomApply([RandomHorizontalFlip(1), Grayscale(3)], p=0.6)
RandomChoice([RandomVerticalFlip(1), RandomCrop(4)], p=[2, 1])
RandomOrder([RandomCrop(9), Resize(6), RandomVerticalFlip()])
AutoAugment()            AutoAugment(AutoAugmentPolicy.CIFAR10, fill=90)
AutoAugment(AutoAugmentPolicy.SVHN)
RandAugment()            RandAugment(3, 20, fill=[10, 20, 30])                      TrivialAugmentWide()
TrivialAugmentWide(11, InterpolationMode.NEAREST)
AugMix(interpolation=0)    AugMix(5, 2, 2, 0.5, False, 0, fill=8)
Compose([RandomCrop(9), RandomHorizontalFlip()])
"""
CONSTRUCTORS = [part.strip() for line in TRANSFORMS.split("\n") for part in line.split("    ") if part.strip()]
ON_TENSORS = ["RandomErasing(1.0)", "RandomErasing(0.5, value='random')",
              "RandomErasing(1, (0.3, 0.9), (1, 5), [1, 2, 3])",
              "RandomErasing(1, (1.0, 1.0), (9, 10), inplace=True)", "Normalize([0.1, 0.2, 0.3], (1, 2, 3))",
              "RandomErasing(1, value=[1, 2])", "Normalize(0.5, 0.5, True)", "Normalize([1., 2., 3.], [1., 0., 1.])",
              "ConvertImageDtype(torch.float64)", "ConvertImageDtype(torch.uint8)", "ConvertImageDtype(torch.int32)",
              "ConvertImageDtype(torch.int16)", "ToPILImage()", "ToPILImage('YCbCr')", "ToPILImage('RGBA')"]


def program(constructor):
    """repr, and the image transformed three times."""
    def run(torch, vision, x):
        transform = eval(constructor, {**vars(vision.transforms), "torch": torch})
        return [repr(transform), *(transform(x) for _ in range(3))]
    return run


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_images(constructor):
    for seed in range(3):
        both(program(constructor), image(seed=seed), seed=seed)


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "F", "I", "LA", "CMYK"])
def test_modes(mode):
    for constructor in ("Resize(7)", "Pad(2, fill=3)", "Pad(2, padding_mode='edge')", "RandomRotation(30, fill=2)",
                        "RandomHorizontalFlip(1)", "ToTensor()", "PILToTensor()", "ColorJitter(0.3, hue=0.2)",
                        "RandomAffine(10, fill=(1,))", "CenterCrop(5)", "Grayscale()",
                        "Compose([PILToTensor(), ToPILImage()])", "RandomPerspective(p=1)"):
        both(program(constructor), image(mode))


@pytest.mark.parametrize("constructor", CONSTRUCTORS + ON_TENSORS)
def test_tensors(constructor):
    halves = constructor.startswith(("Resize", "RandomResizedCrop", "ElasticTransform"))
    for dtype in ("uint8", "float32"):
        both(program(constructor), pixels(dtype), seed=1, halves=halves)
        both(program(constructor), pixels(dtype, (2, 3, 13, 17)), seed=2, halves=halves)
    if not constructor.startswith("ElasticTransform"):     # computed in float32 and called float64
        both(program(constructor), pixels("float64"), seed=3)
    both(program(constructor), pixels("int16", (1, 9, 8)), seed=3, halves=halves)


def test_names_and_signatures():
    from tinytorch.vision import transforms
    for ours, theirs in ((transforms, torchvision.transforms),
                         (transforms.functional, torchvision.transforms.functional)):
        public = [name for name, x in vars(theirs).items() if not name.startswith("_") and callable(x)
                  and getattr(x, "__module__", "").startswith("torchvision.transforms")]
        assert len(public) > 30
        for name in public:
            mine, other = (inspect.signature(getattr(x, name)).parameters.values() for x in (ours, theirs))
            assert [(p.name, str(p.default)) for p in mine] == [(p.name, str(p.default)) for p in other], name
