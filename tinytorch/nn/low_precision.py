"""Matrix products in float8 and products of groups of matrices. They are not supported: only the names exist."""
from enum import Enum

from .._refused import refused

__all__ = ["ScalingType", "SwizzleType", "grouped_mm", "scaled_grouped_mm", "scaled_mm"]

ScalingType = Enum("ScalingType", """TensorWise RowWise BlockWise1x16 BlockWise1x32 BlockWise1x128
    BlockWise128x128""", start=0, module=__name__)
ScalingType.__doc__ = "The parts of a matrix that have one scale each."
SwizzleType = Enum("SwizzleType", "NO_SWIZZLE SWIZZLE_32_4_4", start=0, module=__name__)
SwizzleType.__doc__ = "The order of the scales in memory."
grouped_mm, scaled_grouped_mm, scaled_mm = [
    refused("torch.nn.functional", _name, "there are no products of groups of matrices or of float8 here")
    for _name in ("grouped_mm", "scaled_grouped_mm", "scaled_mm")]
