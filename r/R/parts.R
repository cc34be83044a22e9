# Activations, layers and losses, as functions and as modules.

# --- activations ---

nnf_celu <- function(input, alpha = 1) torch_celu(input, alpha)
nnf_elu <- function(input, alpha = 1) {
  torch_where(input > 0, input, alpha * torch_expm1(torch_clamp(input, max = 0)))
}
nnf_gelu <- function(input) input * (1 + torch_erf(input / sqrt(2))) / 2
nnf_hardtanh <- function(input, min_val = -1, max_val = 1) torch_clamp(input, min_val, max_val)
nnf_leaky_relu <- function(input, negative_slope = 0.01) {
  torch_where(input > 0, input, negative_slope * input)
}
nnf_log_softmax <- function(input, dim) torch_log_softmax(input, dim)
nnf_logsigmoid <- function(input) -nnf_softplus(-input)
nnf_relu <- function(input) torch_relu(input)
nnf_relu6 <- function(input) torch_clamp(input, 0, 6)
nnf_selu <- function(input) torch_selu(input)
nnf_sigmoid <- function(input) torch_sigmoid(input)
nnf_silu <- function(input) input * torch_sigmoid(input)
nnf_softmax <- function(input, dim) torch_softmax(input, dim)
nnf_softplus <- function(input, beta = 1) {
  torch_logaddexp(beta * input, torch_zeros_like(input)) / beta
}
nnf_softsign <- function(input) input / (1 + torch_abs(input))
nnf_tanh <- function(input) torch_tanh(input)

# --- layers ---

nnf_linear <- function(input, weight, bias = NULL) {
  out <- torch_matmul(input, torch_t(weight))
  if (is.null(bias)) out else out + bias
}

nnf_dropout <- function(input, p = 0.5, training = TRUE) {
  if (p < 0 || p > 1) {
    refuse("p is a probability, from 0 to 1, not ", p)
  }
  if (!training || p == 0) {
    return(input)
  }
  if (p == 1) input * 0 else input * (torch_rand_like(input) >= p) / (1 - p)
}

nnf_embedding <- function(input, weight) {
  rows <- torch_index_select(weight, 1, torch_flatten(input))
  torch_reshape(rows, c(dim(input), dim(weight)[2]))
}

nnf_layer_norm <- function(input, normalized_shape, weight = NULL, bias = NULL, eps = 1e-05) {
  last <- -seq_along(normalized_shape)
  centred <- input - torch_mean(input, last, keepdim = TRUE)
  out <- centred / torch_sqrt(torch_mean(centred^2, last, keepdim = TRUE) + eps)
  out <- if (is.null(weight)) out else out * weight
  if (is.null(bias)) out else out + bias
}

nnf_one_hot <- function(tensor, num_classes = -1) {
  count <- if (num_classes == -1) torch_max(tensor)$item() else num_classes
  classes <- torch_arange(1, count, dtype = torch_long())
  (torch_unsqueeze(tensor, -1) == classes)$to(torch_long())
}

nnf_normalize <- function(input, p = 2, dim = 2, eps = 1e-12) {
  input / torch_clamp(torch_norm(input, p, dim, keepdim = TRUE), min = eps)
}

nnf_cosine_similarity <- function(x1, x2, dim = 2, eps = 1e-08) {
  torch_cosine_similarity(x1, x2, dim, eps)
}

# --- losses ---

nnf_mse_loss <- function(input, target, reduction = "mean") reduced((input - target)^2, reduction)
nnf_l1_loss <- function(input, target, reduction = "mean") reduced(abs(input - target), reduction)

nnf_smooth_l1_loss <- function(input, target, reduction = "mean") {
  apart <- torch_abs(input - target)
  reduced(torch_where(apart < 1, apart^2 / 2, apart - 0.5), reduction)
}

nnf_nll_loss <- function(input, target, reduction = "mean") {
  if (input$ndim != 2 || target$ndim != 1 || dim(target) != dim(input)[1]) {
    refuse("target must have the number of a class for each row of a matrix of probabilities")
  }
  reduced(-torch_gather(input, 2, target$unsqueeze(2))$squeeze(2), reduction)
}

nnf_cross_entropy <- function(input, target, reduction = "mean") {
  nnf_nll_loss(torch_log_softmax(input, 2), target, reduction)
}

nnf_binary_cross_entropy <- function(input, target, weight = NULL, reduction = "mean") {
  log_of <- function(p) torch_clamp(torch_log(p), min = -100) # as in torch, which stays finite
  losses <- -(target * log_of(input) + (1 - target) * log_of(1 - input))
  reduced(if (is.null(weight)) losses else losses * weight, reduction)
}

nnf_binary_cross_entropy_with_logits <- function(input, target, weight = NULL,
                                                 reduction = "mean") {
  losses <- (1 - target) * input + nnf_softplus(-input)
  reduced(if (is.null(weight)) losses else losses * weight, reduction)
}

nnf_kl_div <- function(input, target, reduction = "mean") {
  reduced(torch_xlogy(target, target) - target * input, reduction)
}

reduced <- function(losses, reduction) {
  switch(reduction,
    mean = torch_mean(losses),
    sum = torch_sum(losses),
    none = losses,
    refuse("reduction must be \"mean\", \"sum\" or \"none\", not ", reduction)
  )
}

# --- as modules ---

# A type of modules that call a function of some inputs, with the options that they were made with.
of_function <- function(name, f, inputs = "input") {
  nn_module(
    name,
    initialize = function(...) {
      # An option that the function does not have is an error here, not only in forward().
      match.call(f, as.call(c(quote(f), lapply(inputs, as.name), list(...))))
      self$options <- list(...)
    },
    forward = function(...) do.call(f, c(list(...), self$options))
  )
}

of_loss <- function(name, f) of_function(name, f, c("input", "target"))

nn_elu <- of_function("nn_elu", nnf_elu)
nn_flatten <- of_function("nn_flatten", function(input, start_dim = 2, end_dim = -1) {
  torch_flatten(input, start_dim, end_dim)
})
nn_gelu <- of_function("nn_gelu", nnf_gelu)
nn_hardtanh <- of_function("nn_hardtanh", nnf_hardtanh)
nn_identity <- of_function("nn_identity", function(input) input)
nn_leaky_relu <- of_function("nn_leaky_relu", nnf_leaky_relu)
nn_log_softmax <- of_function("nn_log_softmax", nnf_log_softmax)
nn_relu <- of_function("nn_relu", nnf_relu)
nn_relu6 <- of_function("nn_relu6", nnf_relu6)
nn_selu <- of_function("nn_selu", nnf_selu)
nn_sigmoid <- of_function("nn_sigmoid", nnf_sigmoid)
nn_silu <- of_function("nn_silu", nnf_silu)
nn_softmax <- of_function("nn_softmax", nnf_softmax)
nn_softplus <- of_function("nn_softplus", nnf_softplus)
nn_tanh <- of_function("nn_tanh", nnf_tanh)

nn_bce_loss <- of_loss("nn_bce_loss", nnf_binary_cross_entropy)
nn_bce_with_logits_loss <- of_loss(
  "nn_bce_with_logits_loss", nnf_binary_cross_entropy_with_logits
)
nn_cross_entropy_loss <- of_loss("nn_cross_entropy_loss", nnf_cross_entropy)
nn_kl_div_loss <- of_loss("nn_kl_div_loss", nnf_kl_div)
nn_l1_loss <- of_loss("nn_l1_loss", nnf_l1_loss)
nn_mse_loss <- of_loss("nn_mse_loss", nnf_mse_loss)
nn_nll_loss <- of_loss("nn_nll_loss", nnf_nll_loss)
nn_smooth_l1_loss <- of_loss("nn_smooth_l1_loss", nnf_smooth_l1_loss)

nn_linear <- nn_module(
  "nn_linear",
  initialize = function(in_features, out_features, bias = TRUE) {
    bound <- 1 / sqrt(in_features)
    uniform <- function(...) (torch_rand(...) * 2 - 1) * bound
    self$weight <- nn_parameter(uniform(out_features, in_features))
    self$bias <- if (bias) nn_parameter(uniform(out_features))
  },
  forward = function(input) nnf_linear(input, self$weight, self$bias)
)

nn_dropout <- nn_module(
  "nn_dropout",
  initialize = function(p = 0.5) self$p <- p,
  forward = function(input) nnf_dropout(input, self$p, self$training)
)

nn_embedding <- nn_module(
  "nn_embedding",
  initialize = function(num_embeddings, embedding_dim) {
    self$weight <- nn_parameter(torch_randn(num_embeddings, embedding_dim))
  },
  forward = function(input) nnf_embedding(input, self$weight)
)

nn_layer_norm <- nn_module(
  "nn_layer_norm",
  initialize = function(normalized_shape, eps = 1e-05, elementwise_affine = TRUE) {
    self$normalized_shape <- normalized_shape
    self$eps <- eps
    self$weight <- if (elementwise_affine) nn_parameter(torch_ones(normalized_shape))
    self$bias <- if (elementwise_affine) nn_parameter(torch_zeros(normalized_shape))
  },
  forward = function(input) {
    nnf_layer_norm(input, self$normalized_shape, self$weight, self$bias, self$eps)
  }
)

# Give a module others, under the names "0", "1" and so on.
take_over <- function(module, others) {
  for (i in seq_along(others)) {
    set_member(module, as.character(i - 1), others[[i]])
  }
}

nn_sequential <- nn_module(
  "nn_sequential",
  initialize = function(...) take_over(self, list(...)),
  forward = function(input) {
    for (layer in self$children) {
      input <- layer(input)
    }
    input
  }
)

nn_module_list <- nn_module(
  "nn_module_list",
  initialize = function(modules = list()) take_over(self, modules),
  append = function(module) set_member(self, as.character(length(self)), module),
  forward = function(...) refuse("nn_module_list() is a list of modules: call those in it")
)
