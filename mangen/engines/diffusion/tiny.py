"""Tiny checkpoints in diffusers' format: the shapes of the real ones, seeded, a few MB.

The same seed makes the same bytes. What they draw is noise; the code that loads and runs them is
the code that runs the real ones. torch and diffusers are loaded by the makers alone.
"""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mangen import errors
from mangen.engines.diffusion import adapter, tiny_words

_CARD = """---
license: apache-2.0
---
A tiny {name} with seeded random weights (seed {seed}), made by `manage.py models tiny`: it draws
noise, and takes the way of a real one.
"""
#: numbers of tokens that the tiny IP-Adapter makes of a picture, as the real one
_ADAPTER_TOKENS = 4
_WIDTH = 32  #: of the encoders' hidden states


def make(name: str, folder: pathlib.Path, seed: int = 0) -> pathlib.Path:
    """Make one of MAKERS as a new folder; nothing is left of it where that fails."""
    if name not in MAKERS:
        raise errors.ModelError(f"there is no tiny {name!r}: write {', '.join(MAKERS)}")
    if folder.exists():
        raise errors.ModelError(f"{folder} is there already: remove it, or name another folder")
    try:
        import diffusers  # noqa: F401, PLC0415 - asked first, to say what to install
        import torch  # noqa: PLC0415 - with it
        import transformers  # noqa: F401, PLC0415 - with it
    except ImportError as error:
        raise errors.ModelError(
            f"tiny checkpoints are made by {error.name}, which is not installed: "
            "`python3 manage.py --gpu models tiny DIR` installs it"
        ) from error
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        part = pathlib.Path(scratch) / name
        # the caller's own dice stay as they are
        with torch.random.fork_rng(devices=[]), _quiet():
            torch.manual_seed(seed)
            MAKERS[name](part)
        (part / "README.md").write_text(_CARD.format(name=name, seed=seed), "utf-8")
        shutil.move(part, folder)
    return folder


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars over files of kilobytes, and no advice about defaults that are wanted."""
    import diffusers  # noqa: PLC0415 - see above
    import transformers  # noqa: PLC0415 - see above

    logs = [diffusers.utils.logging, transformers.utils.logging]
    before = [(log.get_verbosity(), log.is_progress_bar_enabled()) for log in logs]
    try:
        for log in logs:
            log.set_verbosity_error()
            log.disable_progress_bar()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, (verbosity, bars) in zip(logs, before, strict=True):
            log.set_verbosity(verbosity)
            if bars:
                log.enable_progress_bar()


def _sdxl(out: pathlib.Path) -> None:
    import diffusers  # noqa: PLC0415 - see above
    import transformers  # noqa: PLC0415 - see above

    first, second = tiny_words.clip(), tiny_words.clip(pad="!")
    unet = diffusers.UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(32, 64, 64),
        layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=8,
        transformer_layers_per_block=(1, 1, 2),
        attention_head_dim=(2, 4, 8),
        cross_attention_dim=2 * _WIDTH,  # both encoders' states side by side
        use_linear_projection=True,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=6 * 8 + _WIDTH,  # six sizes and the pooled text
    )
    diffusers.StableDiffusionXLPipeline(
        vae=_vae(scaling_factor=0.13025, force_upcast=True),
        text_encoder=transformers.CLIPTextModel(_clip_text(first, "quick_gelu")),
        text_encoder_2=transformers.CLIPTextModelWithProjection(_clip_text(second, "gelu")),
        tokenizer=first,
        tokenizer_2=second,
        unet=unet,
        scheduler=diffusers.EulerDiscreteScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            timestep_spacing="leading",
            steps_offset=1,
        ),
        image_encoder=_clip_vision(),
        feature_extractor=_pictures(),
        add_watermarker=False,
    ).save_pretrained(out)
    _ip_adapter(unet, out / adapter.FOLDER / "ip_adapter.safetensors")


def _ip_adapter(unet: Any, file: pathlib.Path) -> None:
    """Weights of an adapter for this UNet, in the layout that people share them in."""
    import torch  # noqa: PLC0415 - see above
    from safetensors import torch as files  # noqa: PLC0415 - it loads torch

    states = int(unet.config.cross_attention_dim)
    tensors = {
        "image_proj.proj.weight": torch.randn(_ADAPTER_TOKENS * states, _WIDTH) * 0.3,
        "image_proj.proj.bias": torch.randn(_ADAPTER_TOKENS * states) * 0.3,
        "image_proj.norm.weight": torch.ones(states),
        "image_proj.norm.bias": torch.zeros(states),
    }
    # every second attention is that over the text: those get keys and values of their own
    crossed = [name for name in unet.attn_processors if "attn2" in name]
    for number, name in enumerate(crossed):
        layer = unet.get_submodule(name.removesuffix(".processor"))
        for which in ("to_k_ip", "to_v_ip"):
            shape = getattr(layer, which.removesuffix("_ip")).weight.shape
            tensors[f"ip_adapter.{2 * number + 1}.{which}.weight"] = torch.randn(shape) * 0.1
    file.parent.mkdir()
    files.save_file(tensors, file, metadata={"format": "pt"})


def _i2vgen_xl(out: pathlib.Path) -> None:
    import diffusers  # noqa: PLC0415 - see above
    import transformers  # noqa: PLC0415 - see above

    words = tiny_words.clip(pad="!")
    diffusers.I2VGenXLPipeline(
        vae=_vae(scaling_factor=0.18215),
        text_encoder=transformers.CLIPTextModel(_clip_text(words, "gelu")),
        tokenizer=words,
        image_encoder=_clip_vision(),
        feature_extractor=_pictures(),
        unet=diffusers.I2VGenXLUNet(
            sample_size=8,
            block_out_channels=(16, 32, 32, 32),
            layers_per_block=1,
            norm_num_groups=8,
            cross_attention_dim=_WIDTH,
            attention_head_dim=8,
        ),
        scheduler=diffusers.DDIMScheduler(
            beta_schedule="squaredcos_cap_v2",
            clip_sample=False,
            steps_offset=1,
            prediction_type="v_prediction",
            rescale_betas_zero_snr=True,
            timestep_spacing="leading",
        ),
    ).save_pretrained(out)


def _flux2_klein(out: pathlib.Path) -> None:
    import diffusers  # noqa: PLC0415 - see above
    import transformers  # noqa: PLC0415 - see above

    words = tiny_words.qwen()
    encoder = transformers.Qwen3Config(
        vocab_size=len(words),
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=27,  # the pipeline reads layers 9, 18 and 27
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=1024,
    )
    diffusers.Flux2KleinPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=diffusers.AutoencoderKLFlux2(
            block_out_channels=(16, 16, 32, 32),
            layers_per_block=1,
            latent_channels=4,
            norm_num_groups=8,
            sample_size=64,
        ),
        text_encoder=transformers.Qwen3ForCausalLM(encoder),
        tokenizer=words,
        transformer=diffusers.Flux2Transformer2DModel(
            patch_size=1,
            in_channels=16,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=3 * _WIDTH,
            timestep_guidance_channels=16,
            axes_dims_rope=(4, 4, 4, 4),
            guidance_embeds=False,
        ),
        is_distilled=True,
    ).save_pretrained(out)


def _wan22_ti2v(out: pathlib.Path) -> None:
    import diffusers  # noqa: PLC0415 - see above
    import transformers  # noqa: PLC0415 - see above

    words = tiny_words.t5()
    encoder = transformers.UMT5Config(
        vocab_size=len(words),
        d_model=_WIDTH,
        d_kv=8,
        d_ff=2 * _WIDTH,
        num_layers=2,
        num_heads=4,
        feed_forward_proj="gated-gelu",
    )
    latent = 48
    diffusers.WanPipeline(
        tokenizer=words,
        text_encoder=transformers.UMT5EncoderModel(encoder),
        vae=diffusers.AutoencoderKLWan(
            base_dim=8,
            decoder_base_dim=8,
            z_dim=latent,
            latents_mean=[0.0] * latent,
            latents_std=[1.0] * latent,
            dim_mult=[1, 1, 1, 1],
            num_res_blocks=1,
            temperal_downsample=[False, True, True],
            is_residual=True,
            in_channels=12,
            out_channels=12,
            patch_size=2,
            scale_factor_temporal=4,
            scale_factor_spatial=16,
        ),
        scheduler=diffusers.UniPCMultistepScheduler(
            prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=5.0
        ),
        transformer=diffusers.WanTransformer3DModel(
            patch_size=(1, 2, 2),
            num_attention_heads=2,
            attention_head_dim=12,
            in_channels=latent,
            out_channels=latent,
            text_dim=_WIDTH,
            freq_dim=32,
            ffn_dim=2 * _WIDTH,
            num_layers=2,
            rope_max_seq_len=64,
        ),
        expand_timesteps=True,
    ).save_pretrained(out)


def _vae(**choices: Any) -> Any:
    import diffusers  # noqa: PLC0415 - see above

    return diffusers.AutoencoderKL(
        block_out_channels=(16, 16, 32, 32),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        norm_num_groups=8,
        sample_size=64,
        **{"force_upcast": False, **choices},
    )


def _clip_text(words: Any, activation: str) -> Any:
    import transformers  # noqa: PLC0415 - see above

    return transformers.CLIPTextConfig(
        vocab_size=len(words),
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=2,
        num_attention_heads=4,
        projection_dim=_WIDTH,
        hidden_act=activation,
        bos_token_id=words.bos_token_id,
        eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )


def _clip_vision() -> Any:
    import transformers  # noqa: PLC0415 - see above

    return transformers.CLIPVisionModelWithProjection(
        transformers.CLIPVisionConfig(
            hidden_size=_WIDTH,
            intermediate_size=2 * _WIDTH,
            num_hidden_layers=2,
            num_attention_heads=4,
            projection_dim=_WIDTH,
            image_size=32,
            patch_size=8,
        )
    )


def _pictures() -> Any:
    import transformers  # noqa: PLC0415 - see above

    return transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )


#: the tiny checkpoints by name
MAKERS: Mapping[str, Callable[[pathlib.Path], None]] = {
    "sdxl": _sdxl,
    "i2vgen_xl": _i2vgen_xl,
    "flux2_klein": _flux2_klein,
    "wan22_ti2v": _wan22_ti2v,
}
