"""Libraries for quantised numbers, of which there are none here."""

engine = "none"
supported_engines = ["none"]
