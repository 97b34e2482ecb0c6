"""SummaryWriter: scalars, histograms, images, figures, texts and hyperparameters, by their steps."""
from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from ..._refused import refused
from ...tensor import Tensor

__all__ = ["FileWriter", "SummaryWriter"]


def _array(value):
    """The array of a tensor, or of any object that NumPy turns into an array."""
    if isinstance(value, Tensor):
        value = value.detach()
        return (value.float() if value.dtype.is_floating_point and value.dtype.itemsize < 4 else value).numpy()
    return np.atleast_1d(np.asarray(value))


def _limits():
    """The limits of TensorBoard's bins for histograms: 10 percent apart, from 1e-12 to 1e20, with both signs."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    return [-x for x in reversed(positive)] + [0] + positive


def _histogram(values, bins, max_bins):
    values = values.reshape(-1)
    if not values.size:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(values, bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        starts = np.arange(0, len(counts), step)
        counts, limits = np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])
    filled = np.flatnonzero(counts)
    start, end = filled[0], filled[-1] + 1
    # the limits are right ends, so an empty bin before the first shows the left end of the first
    return HistogramProto(min=values.min(), max=values.max(), num=values.size, sum=values.sum(),
                          sum_squares=values.dot(values), bucket_limit=limits[start:end + 1].tolist(),
                          bucket=[0, *counts[start:end].tolist()])


def _image(array, formats):
    """An image of bytes, (height, width, channels), as PNG."""
    from PIL import Image
    order = [formats.upper().index(letter) for letter in "NHWC" if letter in formats.upper()]
    array = array.transpose(order)
    if "C" not in formats.upper():
        array = array[..., None]
    if array.ndim == 4:                        # side by side, in rows of eight
        rows = [np.concatenate(list(array[i:i + 8]), 1) for i in range(0, len(array), 8)]
        width = max([row.shape[1] for row in rows])
        array = np.concatenate([np.pad(row, ((0, 0), (0, width - row.shape[1]), (0, 0))) for row in rows])
    if array.dtype != np.uint8:
        array = (array * 255).clip(0, 255).astype(np.uint8)
    if array.shape[2] == 1:
        array = array.repeat(3, 2)
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    height, width, channels = array.shape
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())


class FileWriter:
    """Events written into a file of a folder."""

    def __init__(self, log_dir: str, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Writes an event of a step."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Writes a summary of a step."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Writes what is waiting."""
        self.event_writer.flush()

    def close(self) -> None:
        """Writes what is waiting, and closes the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begins another file."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes logs of training to the folder `log_dir` (default: runs/DATE_HOST), which TensorBoard shows.

    Videos, sounds, meshes, embeddings, curves of precision and graphs of operations are not supported.
    """

    def __init__(self, log_dir: str | None = None, comment: str = "", purge_step: int | None = None,
                 max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        name = f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}"
        self.log_dir = log_dir or os.path.join("runs", name)
        self.purge_step, self._options = purge_step, (max_queue, flush_secs, filename_suffix)
        self.default_bins, self.file_writer, self.all_writers = _limits(), None, None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None:
            self.file_writer = FileWriter(self.log_dir, *self._options)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                from tensorboard.compat.proto.event_pb2 import SessionLog
                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(session_log=SessionLog(status=SessionLog.START)), self.purge_step)
                self.purge_step = None
        return self.file_writer

    def _add(self, step, walltime, **value):
        self._get_file_writer().add_summary(Summary(value=[Summary.Value(**value)]), step, walltime)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def add_scalar(self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None,
                   new_style: bool = False, double_precision: bool = False) -> None:
        """Writes a number, or a tensor with one element."""
        number = float(_array(scalar_value).squeeze())
        if not new_style:
            self._add(global_step, walltime, tag=tag, simple_value=number)
            return
        proto = (TensorProto(double_val=[number], dtype="DT_DOUBLE") if double_precision
                 else TensorProto(float_val=[number], dtype="DT_FLOAT"))
        self._add(global_step, walltime, tag=tag, tensor=proto, metadata=_metadata("scalars"))

    def add_scalars(self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: int | None = None,
                    walltime: float | None = None) -> None:
        """Writes numbers for one diagram, each to a file in its own folder."""
        self._get_file_writer()
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            if folder not in self.all_writers:
                self.all_writers[folder] = FileWriter(folder, *self._options)
            summary = Summary(value=[Summary.Value(tag=main_tag, simple_value=float(_array(value).squeeze()))])
            self.all_writers[folder].add_summary(summary, global_step, walltime)

    def add_histogram(self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """Writes a histogram of the numbers of a tensor; `bins` as in numpy.histogram."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        values = _array(values)
        self._add(global_step, walltime, tag=tag,
                  histo=_histogram(values.astype(float) if values.dtype.kind in "biu" else values, bins, max_bins))

    def add_image(self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
                  dataformats: str = "CHW") -> None:
        """Writes an image of bytes, or of numbers from 0 to 1, with dimensions in the order of `dataformats`."""
        self._add(global_step, walltime, tag=tag, image=_image(_array(img_tensor), dataformats))

    def add_images(self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """Writes several images, side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(self, tag: str, figure: Any, global_step: int | None = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Writes one or several matplotlib figures."""
        from matplotlib import pyplot
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        images = []
        for one in figure if isinstance(figure, list) else [figure]:
            canvas = FigureCanvasAgg(one)
            canvas.draw()
            images.append(np.asarray(canvas.buffer_rgba())[..., :3])
            if close:
                pyplot.close(one)
        if isinstance(figure, list):
            self.add_image(tag, np.stack(images), global_step, walltime, "NHWC")
        else:
            self.add_image(tag, images[0], global_step, walltime, "HWC")

    def add_text(self, tag: str, text_string: str, global_step: int | None = None,
                 walltime: float | None = None) -> None:
        """Writes a text."""
        proto = TensorProto(dtype="DT_STRING", string_val=[text_string.encode()],
                            tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]))
        self._add(global_step, walltime, tag=f"{tag}/text_summary", tensor=proto, metadata=_metadata("text"))

    def add_hparams(self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: Any = None,
                    run_name: str | None = None, global_step: int | None = None) -> None:
        """Writes the settings of a run and its results to their own folder."""
        from tensorboard.plugins.hparams import api
        values = {k: v.item() if isinstance(v, (Tensor, np.generic)) else v for k, v in hparam_dict.items()}
        with SummaryWriter(os.path.join(self.log_dir, run_name or str(time.time()))) as writer:
            metrics = [api.Metric(name) for name in metric_dict]
            writer.file_writer.add_summary(api.hparams_config_pb([api.HParam(name) for name in values], metrics))
            writer.file_writer.add_summary(api.hparams_pb(values))
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    add_tensor, add_histogram_raw, add_image_with_boxes, add_video, add_audio, add_onnx_graph, add_graph, \
        add_embedding, add_pr_curve, add_pr_curve_raw, add_custom_scalars_multilinechart, \
        add_custom_scalars_marginchart, add_custom_scalars, add_mesh = [
            refused(f"{__name__}.SummaryWriter", name, "SummaryWriter here writes scalars, histograms, images, "
                    "figures, texts and hyperparameters") for name in (
                "add_tensor", "add_histogram_raw", "add_image_with_boxes", "add_video", "add_audio", "add_onnx_graph",
                "add_graph", "add_embedding", "add_pr_curve", "add_pr_curve_raw", "add_custom_scalars_multilinechart",
                "add_custom_scalars_marginchart", "add_custom_scalars", "add_mesh")]

    def _each(self, action: Callable) -> None:
        for writer in (self.all_writers or {}).values():
            action(writer)

    def flush(self) -> None:
        """Writes what is waiting."""
        self._each(FileWriter.flush)

    def close(self) -> None:
        """Writes what is waiting, and closes the files."""
        self._each(FileWriter.close)
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        self.close()


def _metadata(plugin):
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin))
