"""Tiny folders of pipelines that no family knows, with seeded random weights."""

from __future__ import annotations

import warnings

import diffusers
import torch
import transformers

from mangen.engines.diffusion import loading, tiny_words

_WIDTH = 32


def make(name, folder):
    """Make one of MAKERS; answers its folder."""
    loading.diffusers()
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        MAKERS[name]().save_pretrained(folder)
    return folder


def _clip():
    words = tiny_words.clip()
    config = transformers.CLIPTextConfig(
        vocab_size=len(words), hidden_size=_WIDTH, intermediate_size=_WIDTH, num_hidden_layers=2,
        num_attention_heads=4, max_position_embeddings=77, bos_token_id=len(words) - 2,
        eos_token_id=len(words) - 1,
    )  # fmt: skip
    return {"tokenizer": words, "text_encoder": transformers.CLIPTextModel(config)}


def _t5():
    words = tiny_words.t5()
    config = transformers.T5Config(
        vocab_size=len(words), d_model=_WIDTH, d_kv=8, d_ff=_WIDTH, num_layers=2, num_heads=4
    )
    return {"tokenizer": words, "text_encoder": transformers.T5EncoderModel(config)}


def _vae(levels=3, **more):
    return diffusers.AutoencoderKL(
        block_out_channels=(16,) * levels, norm_num_groups=8, sample_size=32,
        down_block_types=("DownEncoderBlock2D",) * levels,
        up_block_types=("UpDecoderBlock2D",) * levels, **more,
    )  # fmt: skip


def _unet(**more):
    return diffusers.UNet2DConditionModel(**{
        "sample_size": 8, "block_out_channels": (16, 32), "layers_per_block": 1,
        "norm_num_groups": 8, "cross_attention_dim": _WIDTH, "attention_head_dim": 8,
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
        "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"), **more,
    })  # fmt: skip


def _ddim():
    return diffusers.DDIMScheduler(clip_sample=False, steps_offset=1)


def _sd():
    return diffusers.StableDiffusionPipeline(
        **_clip(), vae=_vae(), unet=_unet(), scheduler=_ddim(), safety_checker=None,
        feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip


def _enlarger():
    return diffusers.StableDiffusionUpscalePipeline(
        **_clip(), vae=_vae(), scheduler=_ddim(), max_noise_level=350,
        unet=_unet(in_channels=7, num_class_embeds=1000),
        low_res_scheduler=diffusers.DDPMScheduler(),
    )  # fmt: skip


def _pixart():
    return diffusers.PixArtSigmaPipeline(
        **_t5(), vae=_vae(), scheduler=diffusers.DPMSolverMultistepScheduler(),
        transformer=diffusers.PixArtTransformer2DModel(
            sample_size=8, num_layers=1, num_attention_heads=2, attention_head_dim=8,
            cross_attention_dim=16, caption_channels=_WIDTH, in_channels=4, out_channels=8,
            norm_num_groups=4, use_additional_conditions=False,
        ),
    )  # fmt: skip


def _flux():
    words = _t5()
    return diffusers.FluxPipeline(
        **_clip(), text_encoder_2=words["text_encoder"], tokenizer_2=words["tokenizer"],
        vae=_vae(latent_channels=4, shift_factor=0.1),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        transformer=diffusers.FluxTransformer2DModel(
            in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16,
            num_attention_heads=2, joint_attention_dim=_WIDTH, pooled_projection_dim=_WIDTH,
            axes_dims_rope=(4, 4, 8), guidance_embeds=True,
        ),
    )  # fmt: skip


def _ltx():
    return diffusers.LTXImageToVideoPipeline(
        **_t5(), scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=diffusers.AutoencoderKLLTXVideo(
            latent_channels=8, block_out_channels=(8, 8, 8, 8),
            decoder_block_out_channels=(8, 8, 8, 8), layers_per_block=(1,) * 5,
            decoder_layers_per_block=(1,) * 5, spatio_temporal_scaling=(True, True, False, False),
            decoder_spatio_temporal_scaling=(True, True, False, False),
            decoder_inject_noise=(False,) * 5, upsample_residual=(False,) * 4,
            upsample_factor=(1,) * 4, patch_size=1, patch_size_t=1,
        ),
        transformer=diffusers.LTXVideoTransformer3DModel(
            in_channels=8, out_channels=8, num_attention_heads=2, attention_head_dim=8,
            cross_attention_dim=16, num_layers=1, caption_channels=_WIDTH,
        ),
    )  # fmt: skip


def _animated():
    return diffusers.AnimateDiffPipeline(
        **_clip(), vae=_vae(), unet=_unet(), scheduler=_ddim(),
        motion_adapter=diffusers.MotionAdapter(
            block_out_channels=(16, 32), motion_layers_per_block=1, motion_norm_num_groups=4,
            motion_num_attention_heads=2, motion_max_seq_length=24,
        ),
    )  # fmt: skip


def _refiner():
    """As SDXL's: one text encoder, and a score of looks instead of the size."""
    clip = _clip()
    config = transformers.CLIPTextConfig(
        **{**clip["text_encoder"].config.to_dict(), "projection_dim": _WIDTH}
    )
    return diffusers.StableDiffusionXLImg2ImgPipeline(
        text_encoder=None, tokenizer=None, tokenizer_2=clip["tokenizer"],
        text_encoder_2=transformers.CLIPTextModelWithProjection(config), vae=_vae(),
        unet=_unet(addition_embed_type="text_time", addition_time_embed_dim=8,
                   projection_class_embeddings_input_dim=5 * 8 + _WIDTH),
        scheduler=_ddim(), requires_aesthetics_score=True, add_watermarker=False,
    )  # fmt: skip


def _classes():
    return diffusers.DiTPipeline(
        vae=_vae(), scheduler=_ddim(),
        transformer=diffusers.DiTTransformer2DModel(
            sample_size=8, num_layers=1, num_attention_heads=2, attention_head_dim=8,
            in_channels=4, out_channels=8, num_embeds_ada_norm=4,
        ),
    )  # fmt: skip


MAKERS = {
    "sd": _sd, "enlarger": _enlarger, "pixart": _pixart, "flux": _flux, "ltx": _ltx,
    "animated": _animated, "classes": _classes, "refiner": _refiner,
}  # fmt: skip
