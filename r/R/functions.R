# The functions torch_...(). Each that has a first argument `self` is a method of tensors, too.

unary <- function(name) {
  force(name)
  function(self) call_python(name, self)
}

binary <- function(name) {
  force(name)
  function(self, other) {
    call_python(name, as_operand(self, other), as_operand(other, self))
  }
}

# --- element by element ---

torch_abs <- unary("torch_abs")
torch_acos <- unary("torch_acos")
torch_acosh <- unary("torch_acosh")
torch_asin <- unary("torch_asin")
torch_asinh <- unary("torch_asinh")
torch_atan <- unary("torch_atan")
torch_atanh <- unary("torch_atanh")
torch_bitwise_not <- unary("torch_bitwise_not")
torch_ceil <- unary("torch_ceil")
torch_conj <- unary("torch_conj")
torch_cos <- unary("torch_cos")
torch_cosh <- unary("torch_cosh")
torch_digamma <- unary("torch_digamma")
torch_erf <- unary("torch_erf")
torch_erfc <- unary("torch_erfc")
torch_erfinv <- unary("torch_erfinv")
torch_exp <- unary("torch_exp")
torch_exp2 <- unary("torch_exp2")
torch_expm1 <- unary("torch_expm1")
torch_floor <- unary("torch_floor")
torch_frac <- unary("torch_frac")
torch_imag <- unary("torch_imag")
torch_isfinite <- unary("torch_isfinite")
torch_isinf <- unary("torch_isinf")
torch_isnan <- unary("torch_isnan")
torch_lgamma <- unary("torch_lgamma")
torch_log <- unary("torch_log")
torch_log10 <- unary("torch_log10")
torch_log1p <- unary("torch_log1p")
torch_log2 <- unary("torch_log2")
torch_logical_not <- unary("torch_logical_not")
torch_logit <- unary("torch_logit")
torch_neg <- unary("torch_neg")
torch_real <- unary("torch_real")
torch_reciprocal <- unary("torch_reciprocal")
torch_relu <- unary("torch_relu")
torch_rsqrt <- unary("torch_rsqrt")
torch_sigmoid <- unary("torch_sigmoid")
torch_sign <- unary("torch_sign")
torch_sin <- unary("torch_sin")
torch_sinh <- unary("torch_sinh")
torch_sqrt <- unary("torch_sqrt")
torch_square <- unary("torch_square")
torch_tan <- unary("torch_tan")
torch_tanh <- unary("torch_tanh")
torch_trunc <- unary("torch_trunc")

torch_atan2 <- binary("torch_atan2")
torch_bitwise_and <- binary("torch_bitwise_and")
torch_bitwise_or <- binary("torch_bitwise_or")
torch_bitwise_xor <- binary("torch_bitwise_xor")
torch_copysign <- binary("torch_copysign")
torch_div <- binary("torch_div")
torch_eq <- binary("torch_eq")
torch_floor_divide <- binary("torch_floor_divide")
torch_fmax <- binary("torch_fmax")
torch_fmin <- binary("torch_fmin")
torch_fmod <- binary("torch_fmod")
torch_ge <- binary("torch_ge")
torch_gt <- binary("torch_gt")
torch_heaviside <- binary("torch_heaviside")
torch_hypot <- binary("torch_hypot")
torch_le <- binary("torch_le")
torch_logaddexp <- binary("torch_logaddexp")
torch_logaddexp2 <- binary("torch_logaddexp2")
torch_logical_and <- binary("torch_logical_and")
torch_logical_or <- binary("torch_logical_or")
torch_logical_xor <- binary("torch_logical_xor")
torch_lt <- binary("torch_lt")
torch_maximum <- binary("torch_maximum")
torch_minimum <- binary("torch_minimum")
torch_mul <- binary("torch_mul")
torch_ne <- binary("torch_ne")
torch_pow <- binary("torch_pow")
torch_remainder <- binary("torch_remainder")
torch_xlogy <- binary("torch_xlogy")

torch_add <- function(self, other, alpha = 1) {
  call_python("torch_add", as_operand(self, other), as_operand(other, self), alpha)
}

torch_sub <- function(self, other, alpha = 1) {
  call_python("torch_sub", as_operand(self, other), as_operand(other, self), alpha)
}

torch_clamp <- function(self, min = NULL, max = NULL) call_python("torch_clamp", self, min, max)

torch_lerp <- function(self, end, weight) call_python("torch_lerp", self, end, weight)

torch_round <- function(self, decimals = 0) call_python("torch_round", self, decimals)

torch_where <- function(condition, self, other) {
  call_python("torch_where", condition, as_operand(self, other), as_operand(other, self))
}

# --- along dimensions ---

torch_all <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_all", self, dim, keepdim)
}

torch_any <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_any", self, dim, keepdim)
}

torch_argmax <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_argmax", self, dim, keepdim)
}

torch_argmin <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_argmin", self, dim, keepdim)
}

torch_argsort <- function(self, dim = -1L, descending = FALSE) {
  call_python("torch_argsort", self, dim, descending)
}

torch_cumprod <- function(self, dim) call_python("torch_cumprod", self, dim)

torch_cumsum <- function(self, dim) call_python("torch_cumsum", self, dim)

torch_log_softmax <- function(self, dim) call_python("torch_log_softmax", self, dim)

torch_logsumexp <- function(self, dim, keepdim = FALSE) {
  call_python("torch_logsumexp", self, dim, keepdim)
}

torch_max <- function(self, dim = NULL, keepdim = FALSE, other = NULL) {
  call_python("torch_max", self, dim, keepdim, other)
}

torch_mean <- function(self, dim = NULL, keepdim = FALSE, dtype = NULL) {
  call_python("torch_mean", self, dim, keepdim, dtype)
}

torch_min <- function(self, dim = NULL, keepdim = FALSE, other = NULL) {
  call_python("torch_min", self, dim, keepdim, other)
}

torch_norm <- function(self, p = 2, dim = NULL, keepdim = FALSE) {
  call_python("torch_norm", self, p, dim, keepdim)
}

torch_prod <- function(self, dim = NULL, keepdim = FALSE, dtype = NULL) {
  call_python("torch_prod", self, dim, keepdim, dtype)
}

torch_softmax <- function(self, dim) call_python("torch_softmax", self, dim)

torch_sort <- function(self, dim = -1L, descending = FALSE) {
  call_python("torch_sort", self, dim, descending)
}

torch_std <- function(self, dim = NULL, unbiased = TRUE, keepdim = FALSE) {
  call_python("torch_std", self, dim, unbiased, keepdim)
}

torch_sum <- function(self, dim = NULL, keepdim = FALSE, dtype = NULL) {
  call_python("torch_sum", self, dim, keepdim, dtype)
}

torch_topk <- function(self, k, dim = -1L, largest = TRUE) {
  call_python("torch_topk", self, k, dim, largest)
}

torch_var <- function(self, dim = NULL, unbiased = TRUE, keepdim = FALSE) {
  call_python("torch_var", self, dim, unbiased, keepdim)
}

# --- shapes and parts ---

torch_cat <- function(tensors, dim = 1L) call_python("torch_cat", tensors, dim)

torch_chunk <- function(self, chunks, dim = 1L) call_python("torch_chunk", self, chunks, dim)

torch_clone <- function(self) call_python("torch_clone", self)

torch_detach <- function(self) call_python("torch_detach", self)

torch_diag <- function(self, diagonal = 0L) call_python("torch_diag", self, diagonal)

torch_expand <- function(self, ...) call_python("torch_expand", self, ...)

torch_expand_as <- function(self, other) call_python("torch_expand_as", self, other)

torch_flatten <- function(self, start_dim = 1L, end_dim = -1L) {
  call_python("torch_flatten", self, start_dim, end_dim)
}

torch_flip <- function(self, dims) call_python("torch_flip", self, dims)

torch_gather <- function(self, dim, index) call_python("torch_gather", self, dim, index)

torch_index_select <- function(self, dim, index) call_python("torch_index_select", self, dim, index)

torch_masked_fill <- function(self, mask, value) call_python("torch_masked_fill", self, mask, value)

torch_masked_select <- function(self, mask) call_python("torch_masked_select", self, mask)

torch_narrow <- function(self, dim, start, length) {
  call_python("torch_narrow", self, dim, start, length)
}

torch_permute <- function(self, ...) call_python("torch_permute", self, ...)

torch_repeat <- function(self, ...) call_python("torch_repeat", self, ...)

torch_reshape <- function(self, ...) call_python("torch_reshape", self, ...)

torch_select <- function(self, dim, index) call_python("torch_select", self, dim, index)

torch_split <- function(self, split_size, dim = 1L) {
  call_python("torch_split", self, split_size, dim)
}

torch_squeeze <- function(self, dim = NULL) call_python("torch_squeeze", self, dim)

torch_stack <- function(tensors, dim = 1L) call_python("torch_stack", tensors, dim)

torch_t <- function(self) call_python("torch_t", self)

torch_to <- function(self, dtype = NULL, device = NULL) {
  if (is.character(dtype) || inherits(dtype, "torch_device")) {
    device <- dtype
    dtype <- NULL
  }
  check_device(device)
  if (is.null(dtype)) self else call_python("torch_to", self, dtype)
}

torch_transpose <- function(self, dim0, dim1) call_python("torch_transpose", self, dim0, dim1)

torch_tril <- function(self, diagonal = 0L) call_python("torch_tril", self, diagonal)

torch_triu <- function(self, diagonal = 0L) call_python("torch_triu", self, diagonal)

torch_unbind <- function(self, dim = 1L) call_python("torch_unbind", self, dim)

torch_unsqueeze <- function(self, dim) call_python("torch_unsqueeze", self, dim)

torch_view <- function(self, ...) call_python("torch_view", self, ...)

# --- matrices ---

torch_allclose <- function(self, other, rtol = 1e-05, atol = 1e-08) {
  call_python("torch_allclose", self, other, rtol, atol)
}

torch_bmm <- function(self, mat2) call_python("torch_bmm", self, mat2)

torch_dot <- function(self, tensor) call_python("torch_dot", self, tensor)

torch_einsum <- function(equation, tensors) call_python("torch_einsum", equation, tensors)

torch_equal <- function(self, other) call_python("torch_equal", self, other)

torch_matmul <- function(self, other) call_python("torch_matmul", self, other)

torch_mm <- function(self, mat2) call_python("torch_mm", self, mat2)

torch_mv <- function(self, vec) call_python("torch_mv", self, vec)

torch_outer <- function(self, vec2) call_python("torch_outer", self, vec2)

torch_trace <- function(self) call_python("torch_trace", self)

linalg_cholesky <- function(A) call_python("torch_linalg_cholesky", A)

linalg_det <- function(A) call_python("torch_linalg_det", A)

linalg_inv <- function(A) call_python("torch_linalg_inv", A)

linalg_solve <- function(A, B) call_python("torch_linalg_solve", A, B)

# --- other names ---

torch_absolute <- torch_abs
torch_arccos <- torch_acos
torch_arccosh <- torch_acosh
torch_arcsin <- torch_asin
torch_arcsinh <- torch_asinh
torch_arctan <- torch_atan
torch_arctanh <- torch_atanh
torch_clip <- torch_clamp
torch_divide <- torch_div
torch_ger <- torch_outer
torch_greater <- torch_gt
torch_greater_equal <- torch_ge
torch_less <- torch_lt
torch_less_equal <- torch_le
torch_multiply <- torch_mul
torch_negative <- torch_neg
torch_not_equal <- torch_ne
torch_subtract <- torch_sub
torch_true_divide <- torch_div
