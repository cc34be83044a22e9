# Layers with filters, statistics and memory; data in batches; files; schedules of rates.

# Tensors of uniform numbers up to a bound, as parameters.
drawn <- function(bound, ...) nn_parameter((torch_rand(...) * 2 - 1) * bound)

# One number for each of some axes.
each <- function(value, axes) if (length(value) == 1) rep(value, axes) else value

filter_layer <- function(axes, f) {
  name <- paste0("nn_conv", axes, "d")
  nn_module(
    name,
    initialize = function(in_channels, out_channels, kernel_size, stride = 1, padding = 0,
                          dilation = 1, groups = 1, bias = TRUE) {
      size <- each(kernel_size, axes)
      bound <- 1 / sqrt(in_channels / groups * prod(size))
      self$weight <- drawn(bound, c(out_channels, in_channels / groups, size))
      self$bias <- if (bias) drawn(bound, out_channels)
      self$options <- list(stride, padding, dilation, groups)
    },
    forward = function(input) {
      do.call(f, c(list(input, self$weight, self$bias), self$options))
    }
  )
}

nn_conv1d <- filter_layer(1, nnf_conv1d)
nn_conv2d <- filter_layer(2, nnf_conv2d)
nn_conv3d <- filter_layer(3, nnf_conv3d)
nn_max_pool2d <- of_function("nn_max_pool2d", nnf_max_pool2d)
nn_avg_pool2d <- of_function("nn_avg_pool2d", nnf_avg_pool2d)

batch_norm_layer <- function(axes, dims) {
  nn_module(
    paste0("nn_batch_norm", axes, "d"),
    initialize = function(num_features, eps = 1e-05, momentum = 0.1, affine = TRUE) {
      self$options <- list(momentum, eps)
      self$weight <- if (affine) nn_parameter(torch_ones(num_features))
      self$bias <- if (affine) nn_parameter(torch_zeros(num_features))
      self$running_mean <- nn_buffer(torch_zeros(num_features))
      self$running_var <- nn_buffer(torch_ones(num_features))
    },
    forward = function(input) {
      if (!input$ndim %in% dims) {
        refuse("expected an input of ", paste(dims, collapse = " or "), " dimensions, not ",
               input$ndim)
      }
      do.call(nnf_batch_norm, c(
        list(input, self$running_mean, self$running_var, self$weight, self$bias, self$training),
        self$options
      ))
    }
  )
}

nn_batch_norm1d <- batch_norm_layer(1, 2:3)
nn_batch_norm2d <- batch_norm_layer(2, 4)
nn_batch_norm3d <- batch_norm_layer(3, 5)

recurrent_layer <- function(kind, gates) {
  nn_module(
    paste0("nn_", kind),
    initialize = function(input_size, hidden_size, num_layers = 1, bias = TRUE,
                          batch_first = FALSE, dropout = 0, bidirectional = FALSE) {
      self$options <- list(bidirectional, batch_first)
      self$dropout <- dropout
      self$names <- list()
      bound <- 1 / sqrt(hidden_size)
      ways <- if (bidirectional) c("", "_reverse") else ""
      for (layer in seq_len(num_layers)) {
        size <- if (layer == 1) input_size else hidden_size * length(ways)
        for (way in ways) {
          suffix <- paste0("_l", layer, way)
          names <- paste0(c("weight_ih", "weight_hh", if (bias) c("bias_ih", "bias_hh")), suffix)
          shapes <- list(c(gates * hidden_size, size), c(gates * hidden_size, hidden_size),
                         gates * hidden_size, gates * hidden_size)
          for (i in seq_along(names)) {
            set_member(self, names[i], drawn(bound, shapes[[i]]))
          }
          self$names <- c(self$names, list(names))
        }
      }
    },
    forward = function(input, hx = NULL) {
      weights <- lapply(self$names, function(names) lapply(names, function(n) self[[n]]))
      dropout <- if (self$training) self$dropout else 0
      do.call(call_python, c(list("recurrent", kind, input, weights, hx), self$options, dropout))
    }
  )
}

nn_rnn <- recurrent_layer("rnn", 1)
nn_gru <- recurrent_layer("gru", 3)
nn_lstm <- recurrent_layer("lstm", 4)

# --- data in batches ---

dataset <- function(name = NULL, initialize = NULL, .getitem, .length) {
  function(...) {
    self <- new.env(parent = emptyenv())
    bound <- function(f) {
      around <- new.env(parent = environment(f))
      around$self <- self
      environment(f) <- around
      f
    }
    if (!is.null(initialize)) bound(initialize)(...)
    self$.getitem <- bound(.getitem)
    self$.length <- bound(.length)
    structure(self, class = c(name, "dataset"))
  }
}

tensor_dataset <- dataset(
  "tensor_dataset",
  initialize = function(...) self$tensors <- list(...),
  .getitem = function(index) lapply(self$tensors, function(x) torch_index_select(x, 1, index)),
  .length = function() dim(self$tensors[[1]])[1]
)

length.dataset <- function(x) .subset2(x, ".length")()

dataloader <- function(dataset, batch_size = 1, shuffle = FALSE, drop_last = FALSE) {
  if (batch_size < 1) {
    refuse("batch_size must be positive, not ", batch_size)
  }
  structure(
    list(dataset = dataset, batch_size = batch_size, shuffle = shuffle, drop_last = drop_last),
    class = "dataloader"
  )
}

length.dataloader <- function(x) {
  count <- length(.subset2(x, "dataset")) / .subset2(x, "batch_size")
  if (.subset2(x, "drop_last")) floor(count) else ceiling(count)
}

dataloader_make_iter <- function(dataloader) {
  n <- length(dataloader$dataset)
  order <- if (dataloader$shuffle) as.integer(torch_randperm(n)) else seq_len(n)
  iter <- new.env(parent = emptyenv())
  iter$batches <- split(order, ceiling(seq_along(order) / dataloader$batch_size))
  iter$batches <- iter$batches[seq_len(length(dataloader))]
  iter$dataset <- dataloader$dataset
  iter$at <- 0
  iter
}

dataloader_next <- function(iter, completed = NULL) {
  if (iter$at >= length(iter$batches)) {
    return(completed)
  }
  iter$at <- iter$at + 1
  index <- iter$batches[[iter$at]]
  get <- .subset2(iter$dataset, ".getitem")
  if (inherits(iter$dataset, "tensor_dataset")) {
    return(get(as.list(index)))
  }
  samples <- lapply(index, get)
  parts <- lapply(seq_along(samples[[1]]), function(i) {
    torch_stack(lapply(samples, function(s) s[[i]]))
  })
  stats::setNames(parts, names(samples[[1]]))
}

# --- files ---

torch_save <- function(obj, path) {
  state <- if (is_nn_module(obj)) obj$state_dict() else obj
  named <- if (is.list(state) && !is_torch_tensor(state)) names(state)
  invisible(call_python("save", state, as.list(named), path))
}

torch_load <- function(path) {
  found <- call_python("load", path)
  if (length(found[[2]])) stats::setNames(found[[1]], unlist(found[[2]])) else found[[1]]
}

# --- learning rates ---

schedule <- function(name, optimizer, ...) {
  object <- called(python_function("optim.schedule"), c(list(name, optimizer$object), list(...)))
  made <- new.env(parent = emptyenv())
  made$step <- function(...) {
    called(reticulate::py_get_attr(object, "step"), list(...))
    invisible(NULL)
  }
  made$get_last_lr <- function() {
    unlist(from_python(called(reticulate::py_get_attr(object, "get_last_lr"))))
  }
  structure(made, class = "lr_scheduler")
}

lr_step <- function(optimizer, step_size, gamma = 0.1) {
  schedule("StepLR", optimizer, as.integer(step_size), gamma)
}
lr_multistep <- function(optimizer, milestones, gamma = 0.1) {
  schedule("MultiStepLR", optimizer, as.list(as.integer(milestones)), gamma)
}
lr_lambda <- function(optimizer, lr_lambda) {
  schedule("LambdaLR", optimizer, callback(lr_lambda))
}
lr_cosine_annealing <- function(optimizer, T_max, eta_min = 0) {
  schedule("CosineAnnealingLR", optimizer, as.integer(T_max), eta_min)
}
lr_one_cycle <- function(optimizer, max_lr, total_steps) {
  schedule("OneCycleLR", optimizer, max_lr, as.integer(total_steps))
}
lr_reduce_on_plateau <- function(optimizer, mode = "min", factor = 0.1, patience = 10) {
  schedule("ReduceLROnPlateau", optimizer, mode, factor, as.integer(patience))
}

# --- Python's package ---

install_arraygrad <- function(method = "auto", conda = "auto", envname = NULL, ...) {
  reticulate::py_install("arraygrad", envname = envname, method = method, conda = conda,
                         pip = TRUE, ...)
}
