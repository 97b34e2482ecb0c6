"""torch.fx.passes.net_min_base: names to import."""
from ..._refused import refused_names

globals().update(refused_names(__name__, "there is no second backend whose results could differ", classes="""
    FxNetMinimizerBadModuleError FxNetMinimizerResultMismatchError FxNetMinimizerRunFuncError _MinimizerBase
    _MinimizerSettingBase"""))
