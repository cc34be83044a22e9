# Activations, layers and losses, as functions and as modules.

# --- activations ---

nnf_celu <- function(input, alpha = 1) call_python("nnf_celu", input, alpha)
nnf_elu <- function(input, alpha = 1) call_python("nnf_elu", input, alpha)
nnf_gelu <- function(input) call_python("nnf_gelu", input)
nnf_hardtanh <- function(input, min_val = -1, max_val = 1) {
  call_python("nnf_hardtanh", input, min_val, max_val)
}
nnf_leaky_relu <- function(input, negative_slope = 0.01) {
  call_python("nnf_leaky_relu", input, negative_slope)
}
nnf_log_softmax <- function(input, dim) torch_log_softmax(input, dim)
nnf_logsigmoid <- function(input) call_python("nnf_logsigmoid", input)
nnf_relu <- function(input) call_python("nnf_relu", input)
nnf_relu6 <- function(input) call_python("nnf_relu6", input)
nnf_selu <- function(input) call_python("nnf_selu", input)
nnf_sigmoid <- function(input) call_python("nnf_sigmoid", input)
nnf_silu <- function(input) call_python("nnf_silu", input)
nnf_softmax <- function(input, dim) torch_softmax(input, dim)
nnf_softplus <- function(input, beta = 1) call_python("nnf_softplus", input, beta)
nnf_softsign <- function(input) call_python("nnf_softsign", input)
nnf_tanh <- function(input) call_python("nnf_tanh", input)

# --- layers ---

nnf_linear <- function(input, weight, bias = NULL) call_python("nnf_linear", input, weight, bias)

filters <- function(name) {
  function(input, weight, bias = NULL, stride = 1, padding = 0, dilation = 1, groups = 1) {
    call_python(name, input, weight, bias, stride, padding, dilation, groups)
  }
}
nnf_conv1d <- filters("nnf_conv1d")
nnf_conv2d <- filters("nnf_conv2d")
nnf_conv3d <- filters("nnf_conv3d")

nnf_max_pool2d <- function(input, kernel_size, stride = NULL, padding = 0) {
  call_python("nnf_max_pool2d", input, kernel_size, stride, padding)
}
nnf_avg_pool2d <- function(input, kernel_size, stride = NULL, padding = 0) {
  call_python("nnf_avg_pool2d", input, kernel_size, stride, padding)
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

nnf_embedding <- function(input, weight) call_python("nnf_embedding", input, weight)

nnf_layer_norm <- function(input, normalized_shape, weight = NULL, bias = NULL, eps = 1e-05) {
  call_python("nnf_layer_norm", input, normalized_shape, weight, bias, eps)
}

nnf_batch_norm <- function(input, running_mean, running_var, weight = NULL, bias = NULL,
                           training = FALSE, momentum = 0.1, eps = 1e-05) {
  call_python(
    "nnf_batch_norm", input, running_mean, running_var, weight, bias, training, momentum, eps
  )
}

nnf_one_hot <- function(tensor, num_classes = -1) call_python("nnf_one_hot", tensor, num_classes)

nnf_normalize <- function(input, p = 2, dim = 2, eps = 1e-12) {
  call_python("nnf_normalize", input, p, dim, eps)
}

nnf_cosine_similarity <- function(x1, x2, dim = 2, eps = 1e-08) {
  call_python("nnf_cosine_similarity", x1, x2, dim, eps)
}

# --- losses ---

loss_function <- function(name) {
  function(input, target, reduction = "mean") call_python(name, input, target, reduction)
}
weighted_loss <- function(name) {
  function(input, target, weight = NULL, reduction = "mean") {
    call_python(name, input, target, weight, reduction)
  }
}

nnf_mse_loss <- loss_function("nnf_mse_loss")
nnf_l1_loss <- loss_function("nnf_l1_loss")
nnf_smooth_l1_loss <- loss_function("nnf_smooth_l1_loss")
nnf_kl_div <- loss_function("nnf_kl_div")
nnf_nll_loss <- weighted_loss("nnf_nll_loss")
nnf_cross_entropy <- weighted_loss("nnf_cross_entropy")
nnf_binary_cross_entropy <- weighted_loss("nnf_binary_cross_entropy")
nnf_binary_cross_entropy_with_logits <- weighted_loss("nnf_binary_cross_entropy_with_logits")

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
