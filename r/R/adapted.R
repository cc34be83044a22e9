# Functions with torch's names and arguments that arraygrad.compat.torch computes.

torch_addbmm <- function(self, batch1, batch2, beta = 1, alpha = 1) {
  call_python("torch_addbmm", self, batch1, batch2, beta, alpha)
}

torch_addcdiv <- function(self, tensor1, tensor2, value = 1) {
  call_python("torch_addcdiv", self, tensor1, tensor2, value)
}

torch_addcmul <- function(self, tensor1, tensor2, value = 1) {
  call_python("torch_addcmul", self, tensor1, tensor2, value)
}

torch_addmm <- function(self, mat1, mat2, beta = 1, alpha = 1) {
  call_python("torch_addmm", self, mat1, mat2, beta, alpha)
}

torch_addmv <- function(self, mat, vec, beta = 1, alpha = 1) {
  call_python("torch_addmv", self, mat, vec, beta, alpha)
}

torch_addr <- function(self, vec1, vec2, beta = 1, alpha = 1) {
  call_python("torch_addr", self, vec1, vec2, beta, alpha)
}

torch_amax <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_amax", self, dim, keepdim)
}

torch_amin <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_amin", self, dim, keepdim)
}

torch_angle <- function(self) call_python("torch_angle", self)

torch_baddbmm <- function(self, batch1, batch2, beta = 1, alpha = 1) {
  call_python("torch_baddbmm", self, batch1, batch2, beta, alpha)
}

torch_bernoulli <- function(self) call_python("torch_bernoulli", self)

torch_broadcast_to <- function(self, size) call_python("torch_broadcast_to", self, size)

torch_cdist <- function(x1, x2, p = 2) call_python("torch_cdist", x1, x2, p)

torch_celu <- function(self, alpha = 1) call_python("torch_celu", self, alpha)

torch_cosine_similarity <- function(x1, x2, dim = 2L, eps = 1e-08) {
  call_python("torch_cosine_similarity", x1, x2, dim, eps)
}

torch_count_nonzero <- function(self, dim = NULL) call_python("torch_count_nonzero", self, dim)

torch_cross <- function(self, other, dim = -1L) call_python("torch_cross", self, other, dim)

torch_cummax <- function(self, dim) call_python("torch_cummax", self, dim)

torch_cummin <- function(self, dim) call_python("torch_cummin", self, dim)

torch_deg2rad <- function(self) call_python("torch_deg2rad", self)

torch_diag_embed <- function(self, offset = 0L, dim1 = -2L, dim2 = -1L) {
  call_python("torch_diag_embed", self, offset, dim1, dim2)
}

torch_diagonal <- function(self, offset = 0L, dim1 = 1L, dim2 = 2L) {
  call_python("torch_diagonal", self, offset, dim1, dim2)
}

torch_diff <- function(self, n = 1L, dim = -1L) call_python("torch_diff", self, n, dim)

torch_dist <- function(self, other, p = 2) call_python("torch_dist", self, other, p)

torch_dstack <- function(tensors) call_python("torch_dstack", tensors)

torch_hstack <- function(tensors) call_python("torch_hstack", tensors)

torch_i0 <- function(self) call_python("torch_i0", self)

torch_index_add <- function(self, dim, index, source) {
  call_python("torch_index_add", self, dim, index, source)
}

torch_index_copy <- function(self, dim, index, source) {
  call_python("torch_index_copy", self, dim, index, source)
}

torch_index_fill <- function(self, dim, index, value) {
  call_python("torch_index_fill", self, dim, index, value)
}

torch_isclose <- function(self, other, rtol = 1e-05, atol = 1e-08) {
  call_python("torch_isclose", self, other, rtol, atol)
}

torch_kron <- function(self, other) call_python("torch_kron", self, other)

torch_kthvalue <- function(self, k, dim = -1L, keepdim = FALSE) {
  call_python("torch_kthvalue", self, k, dim, keepdim)
}

torch_logcumsumexp <- function(self, dim) call_python("torch_logcumsumexp", self, dim)

torch_matrix_power <- function(self, n) call_python("torch_matrix_power", self, n)

torch_median <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_median", self, dim, keepdim)
}

torch_mode <- function(self, dim = -1L, keepdim = FALSE) {
  call_python("torch_mode", self, dim, keepdim)
}

torch_movedim <- function(self, source, destination) {
  call_python("torch_movedim", self, source, destination)
}

torch_multinomial <- function(self, num_samples, replacement = FALSE) {
  call_python("torch_multinomial", self, num_samples, replacement)
}

torch_mvlgamma <- function(self, p) call_python("torch_mvlgamma", self, p)

torch_nan_to_num <- function(self, nan = NULL, posinf = NULL, neginf = NULL) {
  call_python("torch_nan_to_num", self, nan, posinf, neginf)
}

torch_nansum <- function(self, dim = NULL, keepdim = FALSE) {
  call_python("torch_nansum", self, dim, keepdim)
}

torch_nonzero <- function(self) call_python("torch_nonzero", self)

torch_polygamma <- function(n, input) call_python("torch_polygamma", n, input)

torch_quantile <- function(self, q, dim = NULL, keepdim = FALSE) {
  call_python("torch_quantile", self, q, dim, keepdim)
}

torch_rad2deg <- function(self) call_python("torch_rad2deg", self)

torch_roll <- function(self, shifts, dims = NULL) call_python("torch_roll", self, shifts, dims)

torch_rot90 <- function(self, k = 1L, dims = c(1, 2)) call_python("torch_rot90", self, k, dims)

torch_scatter <- function(self, dim, index, src) call_python("torch_scatter", self, dim, index, src)

torch_scatter_add <- function(self, dim, index, src) {
  call_python("torch_scatter_add", self, dim, index, src)
}

torch_selu <- function(self) call_python("torch_selu", self)

torch_sgn <- function(self) call_python("torch_sgn", self)

torch_signbit <- function(self) call_python("torch_signbit", self)

torch_std_mean <- function(self, dim = NULL, unbiased = TRUE, keepdim = FALSE) {
  call_python("torch_std_mean", self, dim, unbiased, keepdim)
}

torch_take <- function(self, index) call_python("torch_take", self, index)

torch_tensordot <- function(a, b, dims = 2) call_python("torch_tensordot", a, b, dims)

torch_tile <- function(self, dims) call_python("torch_tile", self, dims)

torch_var_mean <- function(self, dim = NULL, unbiased = TRUE, keepdim = FALSE) {
  call_python("torch_var_mean", self, dim, unbiased, keepdim)
}

torch_vdot <- function(self, other) call_python("torch_vdot", self, other)

torch_vstack <- function(tensors) call_python("torch_vstack", tensors)

linalg_eig <- function(A) call_python("torch_linalg_eig", A)

linalg_eigh <- function(A, UPLO = "L") call_python("torch_linalg_eigh", A, UPLO)

linalg_eigvals <- function(A) call_python("torch_linalg_eigvals", A)

linalg_eigvalsh <- function(A, UPLO = "L") call_python("torch_linalg_eigvalsh", A, UPLO)

linalg_lstsq <- function(A, B) call_python("torch_linalg_lstsq", A, B)

linalg_matrix_norm <- function(A, ord = "fro", dim = c(-2, -1), keepdim = FALSE) {
  call_python("torch_linalg_matrix_norm", A, ord, dim, keepdim)
}

linalg_matrix_power <- function(A, n) call_python("torch_linalg_matrix_power", A, n)

linalg_matrix_rank <- function(A) call_python("torch_linalg_matrix_rank", A)

linalg_multi_dot <- function(tensors) call_python("torch_linalg_multi_dot", tensors)

linalg_norm <- function(A, ord = NULL, dim = NULL, keepdim = FALSE) {
  call_python("torch_linalg_norm", A, ord, dim, keepdim)
}

linalg_pinv <- function(A) call_python("torch_linalg_pinv", A)

linalg_qr <- function(A, mode = "reduced") call_python("torch_linalg_qr", A, mode)

linalg_slogdet <- function(A) call_python("torch_linalg_slogdet", A)

linalg_svd <- function(A, full_matrices = TRUE) call_python("torch_linalg_svd", A, full_matrices)

linalg_svdvals <- function(A) call_python("torch_linalg_svdvals", A)

linalg_vector_norm <- function(A, ord = 2, dim = NULL, keepdim = FALSE) {
  call_python("torch_linalg_vector_norm", A, ord, dim, keepdim)
}
