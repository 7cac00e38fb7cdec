"""The part of llama.cpp's C interface that the engine calls, for ctypes.

The layouts are those of llama.cpp 0.4.0 and 0.5.0, which are the same (`llama.h`, MIT). `MODEL_DEFAULTS` and
`CONTEXT_DEFAULTS` are the default parameters of these versions: a library that fills them in another way has another
layout, and must not be used.
"""

import ctypes
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int, c_int8, c_int32, c_int64, c_size_t, c_uint8, c_uint32
from ctypes import c_void_p as pointer
from typing import Any

Token = c_int32
Sequence = c_int32
LogCallback = ctypes.CFUNCTYPE(None, c_int, c_char_p, pointer)
AbortCallback = ctypes.CFUNCTYPE(c_bool, pointer)

FLASH_ATTENTION_DISABLED = 0
POOLINGS = {"auto": -1, "none": 0, "mean": 1, "cls": 2, "last": 3, "rank": 4}
"""llama.cpp's numbers for the ways in which an embedding model combines the vectors of its tokens."""


class ModelParameters(ctypes.Structure):
    """How a model is loaded."""

    _fields_ = (
        ("devices", pointer),
        ("tensor_buft_overrides", pointer),
        ("n_gpu_layers", c_int32),
        ("split_mode", c_int),
        ("load_mode", c_int),
        ("lazy_mode", c_int),
        ("main_gpu", c_int32),
        ("tensor_split", pointer),
        ("progress_callback", pointer),
        ("progress_callback_user_data", pointer),
        ("kv_overrides", pointer),
        ("vocab_only", c_bool),
        ("check_tensors", c_bool),
        ("use_extra_bufts", c_bool),
        ("no_host", c_bool),
        ("no_alloc", c_bool),
        ("load_mtp", c_bool),
    )


class ContextParameters(ctypes.Structure):
    """How a context of a model is created."""

    _fields_ = (
        *((name, c_uint32) for name in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq")),
        *((name, c_uint32) for name in ("n_outputs_max", "n_outputs_max_per_seq")),
        *((name, c_int32) for name in ("n_threads", "n_threads_batch")),
        *((name, c_int) for name in ("ctx_type", "rope_scaling_type", "pooling_type", "attention_type")),
        ("flash_attn_type", c_int),
        *((name, c_float) for name in ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor", "yarn_attn_factor")),
        *((name, c_float) for name in ("yarn_beta_fast", "yarn_beta_slow")),
        ("yarn_orig_ctx", c_uint32),
        ("defrag_thold", c_float),
        ("cb_eval", pointer),
        ("cb_eval_user_data", pointer),
        ("type_k", c_int),
        ("type_v", c_int),
        ("abort_callback", AbortCallback),
        ("abort_callback_data", pointer),
        *((name, c_bool) for name in ("embeddings", "offload_kqv", "no_perf", "op_offload", "swa_full", "kv_unified")),
        ("samplers", pointer),
        ("n_samplers", c_size_t),
        ("ctx_other", pointer),
    )


class TokenBatch(ctypes.Structure):
    """Tokens of several sequences to evaluate."""

    _fields_ = (
        ("n_tokens", c_int32),
        ("token", POINTER(Token)),
        ("embd", POINTER(c_float)),
        ("pos", POINTER(c_int32)),
        ("n_seq_id", POINTER(c_int32)),
        ("seq_id", POINTER(POINTER(Sequence))),
        ("logits", POINTER(c_int8)),
    )


class TokenScore(ctypes.Structure):
    """A token with its score, as samplers see it."""

    _fields_ = (("id", Token), ("logit", c_float), ("p", c_float))


class TokenScores(ctypes.Structure):
    """The tokens among which a sampler chooses."""

    _fields_ = (("data", POINTER(TokenScore)), ("size", c_size_t), ("selected", c_int64), ("sorted", c_bool))


class TemplateMessage(ctypes.Structure):
    """A message of a conversation."""

    _fields_ = (("role", c_char_p), ("content", c_char_p))


class SamplerParameters(ctypes.Structure):
    """How a chain of samplers is created."""

    _fields_ = (("no_perf", c_bool),)


MODEL_DEFAULTS = {"n_gpu_layers": -1, "split_mode": 1, "load_mode": -1, "lazy_mode": 1, "use_extra_bufts": True}
"""The default parameters of a model that are neither 0 nor false."""
CONTEXT_DEFAULTS = {
    "n_ctx": 512,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_seq_max": 1,
    "n_outputs_max_per_seq": 1,
    "n_threads": 4,
    "n_threads_batch": 4,
    "rope_scaling_type": -1,
    "pooling_type": -1,
    "attention_type": -1,
    "flash_attn_type": -1,
    "yarn_ext_factor": -1.0,
    "yarn_attn_factor": -1.0,
    "yarn_beta_fast": -1.0,
    "yarn_beta_slow": -1.0,
    "defrag_thold": -1.0,
    "type_k": 1,
    "type_v": 1,
    "offload_kqv": True,
    "no_perf": True,
    "op_offload": True,
    "swa_full": True,
}
"""The default parameters of a context that are neither 0 nor false."""

FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    # the library and models
    "llama_log_set": (None, (LogCallback, pointer)),
    "llama_backend_init": (None, ()),
    "llama_supports_gpu_offload": (c_bool, ()),
    "llama_model_default_params": (ModelParameters, ()),
    "llama_model_load_from_file": (pointer, (c_char_p, ModelParameters)),
    "llama_model_free": (None, (pointer,)),
    "llama_model_get_vocab": (pointer, (pointer,)),
    "llama_model_chat_template": (c_char_p, (pointer, c_char_p)),
    "llama_model_n_ctx_train": (c_int32, (pointer,)),
    "llama_model_n_embd_out": (c_int32, (pointer,)),
    "llama_model_n_swa": (c_int32, (pointer,)),
    "llama_model_is_recurrent": (c_bool, (pointer,)),
    "llama_model_is_hybrid": (c_bool, (pointer,)),
    # contexts
    "llama_context_default_params": (ContextParameters, ()),
    "llama_init_from_model": (pointer, (pointer, ContextParameters)),
    "llama_free": (None, (pointer,)),
    "llama_n_ctx": (c_uint32, (pointer,)),
    "llama_pooling_type": (c_int, (pointer,)),
    "llama_get_memory": (pointer, (pointer,)),
    "llama_batch_init": (TokenBatch, (c_int32, c_int32, c_int32)),
    "llama_batch_free": (None, (TokenBatch,)),
    "llama_set_n_threads": (None, (pointer, c_int32, c_int32)),
    "llama_decode": (c_int32, (pointer, TokenBatch)),
    "llama_get_logits_ith": (POINTER(c_float), (pointer, c_int32)),
    "llama_get_embeddings_seq": (POINTER(c_float), (pointer, Sequence)),
    # memory of sequences
    "llama_memory_clear": (None, (pointer, c_bool)),
    "llama_memory_seq_rm": (c_bool, (pointer, Sequence, c_int32, c_int32)),
    "llama_memory_seq_cp": (None, (pointer, Sequence, Sequence, c_int32, c_int32)),
    "llama_memory_seq_add": (None, (pointer, Sequence, c_int32, c_int32, c_int32)),
    "llama_memory_can_shift": (c_bool, (pointer,)),
    "llama_state_seq_get_size": (c_size_t, (pointer, Sequence)),
    "llama_state_seq_get_data": (c_size_t, (pointer, POINTER(c_uint8), c_size_t, Sequence)),
    "llama_state_seq_get_size_ext": (c_size_t, (pointer, Sequence, c_uint32)),
    "llama_state_seq_get_data_ext": (c_size_t, (pointer, POINTER(c_uint8), c_size_t, Sequence, c_uint32)),
    "llama_state_seq_set_data_ext": (c_size_t, (pointer, POINTER(c_uint8), c_size_t, Sequence, c_uint32)),
    "llama_state_seq_set_data": (c_size_t, (pointer, POINTER(c_uint8), c_size_t, Sequence)),
    "llama_state_seq_save_file": (c_size_t, (pointer, c_char_p, Sequence, POINTER(Token), c_size_t)),
    "llama_state_seq_load_file": (
        c_size_t,
        (pointer, c_char_p, Sequence, POINTER(Token), c_size_t, POINTER(c_size_t)),
    ),
    # vocabulary
    "llama_vocab_n_tokens": (c_int32, (pointer,)),
    "llama_vocab_is_eog": (c_bool, (pointer, Token)),
    "llama_vocab_is_control": (c_bool, (pointer, Token)),
    "llama_vocab_bos": (Token, (pointer,)),
    "llama_vocab_eos": (Token, (pointer,)),
    "llama_vocab_get_add_bos": (c_bool, (pointer,)),
    **{f"llama_vocab_fim_{name}": (Token, (pointer,)) for name in ("pre", "suf", "mid", "pad", "rep", "sep")},
    "llama_tokenize": (c_int32, (pointer, c_char_p, c_int32, POINTER(Token), c_int32, c_bool, c_bool)),
    "llama_token_to_piece": (c_int32, (pointer, Token, c_char_p, c_int32, c_int32, c_bool)),
    "llama_chat_apply_template": (c_int32, (c_char_p, POINTER(TemplateMessage), c_size_t, c_bool, c_char_p, c_int32)),
    # samplers
    "llama_sampler_chain_default_params": (SamplerParameters, ()),
    "llama_sampler_chain_init": (pointer, (SamplerParameters,)),
    "llama_sampler_chain_add": (None, (pointer, pointer)),
    "llama_sampler_init_greedy": (pointer, ()),
    "llama_sampler_init_top_k": (pointer, (c_int32,)),
    "llama_sampler_init_top_p": (pointer, (c_float, c_size_t)),
    "llama_sampler_init_temp": (pointer, (c_float,)),
    "llama_sampler_init_dist": (pointer, (c_uint32,)),
    "llama_sampler_init_grammar": (pointer, (pointer, c_char_p, c_char_p)),
    "llama_sampler_apply": (None, (pointer, POINTER(TokenScores))),
    "llama_sampler_accept": (None, (pointer, Token)),
    "llama_sampler_free": (None, (pointer,)),
}
"""Each function of libllama that is called: its result and its arguments."""
BACKEND_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "ggml_backend_load_all_from_path": (None, (c_char_p,)),
    "ggml_backend_dev_count": (c_size_t, ()),
    "ggml_backend_dev_get": (pointer, (c_size_t,)),
    "ggml_backend_dev_type": (c_int, (pointer,)),
    "ggml_backend_dev_description": (c_char_p, (pointer,)),
    "ggml_backend_dev_memory": (None, (pointer, POINTER(c_size_t), POINTER(c_size_t))),
}
"""Each function of libggml that is called. Some libraries have it in libggml-base."""
CPU_DEVICE = 0
"""ggml's number for a processor among the types of devices."""
GRAPHICS_DEVICES = (1, 2)
"""ggml's numbers for a graphics card and for one that shares the main memory."""
