# The class of tensors: an environment that holds a tensor of Python.

new_tensor <- function(object) {
  x <- new.env(parent = emptyenv())
  x$object <- object
  class(x) <- "torch_tensor"
  x
}

undefined_tensor <- function() new_tensor(NULL)

tensor_object <- function(x) {
  object <- .subset2(x, "object")
  if (is.null(object)) {
    refuse("this tensor is undefined: it stands for a gradient that does not exist")
  }
  object
}

is_undefined_tensor <- function(x) {
  is_torch_tensor(x) && is.null(.subset2(x, "object"))
}

is_torch_tensor <- function(x) inherits(x, "torch_tensor")

defined_or_undefined <- function(x) if (is.null(x)) undefined_tensor() else x

torch_is_installed <- function() {
  reticulate::py_available(initialize = TRUE) && reticulate::py_module_available("arraygrad")
}

torch_tensor <- function(data, dtype = NULL, device = NULL, requires_grad = FALSE) {
  check_device(device)
  if (is_torch_tensor(data)) {
    made <- torch_detach(data)
    made <- torch_clone(if (is.null(dtype)) made else torch_to(made, dtype))
    return(if (requires_grad) made$requires_grad_() else made)
  }
  kind <- typeof(data)
  if (is.object(data) || !kind %in% c("double", "integer", "logical", "complex")) {
    refuse("torch_tensor() takes numbers, logicals or arrays of them, not ", class(data)[1])
  }
  if (kind == "logical") {
    bytes <- writeBin(as.vector(as.integer(data)), raw())
  } else {
    bytes <- writeBin(as.vector(data), raw())
  }
  shape <- if (is.null(dim(data))) length(data) else dim(data)
  call_python("from_r", bytes, kind, as.list(shape), dtype, requires_grad)
}

check_device <- function(device) {
  if (!is.null(device) && !identical(as_device(device)$type, "cpu")) {
    refuse("tensors of this package are in the memory of the processor: leave device out")
  }
}

as_device <- function(device) {
  if (inherits(device, "torch_device")) device else torch_device(device)
}

as_array <- function(x) UseMethod("as_array")

as_array.torch_tensor <- function(x) {
  found <- call_python("to_r", x)
  shape <- as.integer(unlist(found[[3]]))
  n <- prod(shape)
  values <- if (found[[2]] == "logical") {
    as.logical(readBin(found[[1]], "integer", n))
  } else {
    readBin(found[[1]], found[[2]], n)
  }
  if (length(shape) > 1) array(values, shape) else values
}

as.array.torch_tensor <- function(x, ...) as_array(x)
as.matrix.torch_tensor <- function(x, ...) as.matrix(as_array(x))
as.vector.torch_tensor <- function(x, mode = "any") as.vector(as_array(x), mode)
as.double.torch_tensor <- function(x, ...) as.double(as_array(x))
as.integer.torch_tensor <- function(x, ...) as.integer(as_array(x))
as.logical.torch_tensor <- function(x, ...) as.logical(as_array(x))
as.complex.torch_tensor <- function(x, ...) as.complex(as_array(x))

dim.torch_tensor <- function(x) if (is_undefined_tensor(x)) NULL else x$shape
length.torch_tensor <- function(x) if (is_undefined_tensor(x)) 0L else as.integer(prod(x$shape))
t.torch_tensor <- function(x) torch_t(x)
mean.torch_tensor <- function(x, ...) torch_mean(x, ...)

print.torch_tensor <- function(x, n = 30, ...) {
  object <- .subset2(x, "object")
  text <- called(python_function("printed"), list(object, as.integer(n)))
  cat(from_python(text), "\n", sep = "")
  invisible(x)
}

# --- dtypes and devices ---

new_dtype <- function(name) structure(list(name = name), class = "torch_dtype")

torch_float16 <- function() new_dtype("float16")
torch_float32 <- function() new_dtype("float32")
torch_float64 <- function() new_dtype("float64")
torch_int8 <- function() new_dtype("int8")
torch_int16 <- function() new_dtype("int16")
torch_int32 <- function() new_dtype("int32")
torch_int64 <- function() new_dtype("int64")
torch_uint8 <- function() new_dtype("uint8")
torch_bool <- function() new_dtype("bool")
torch_cfloat <- function() new_dtype("complex64")
torch_cdouble <- function() new_dtype("complex128")
torch_half <- torch_float16
torch_float <- torch_float32
torch_double <- torch_float64
torch_short <- torch_int16
torch_int <- torch_int32
torch_long <- torch_int64

print.torch_dtype <- function(x, ...) {
  cat("torch_", call_python("type_name", x), "\n", sep = "")
  invisible(x)
}

Ops.torch_dtype <- function(e1, e2) {
  same <- inherits(e1, "torch_dtype") && inherits(e2, "torch_dtype") &&
    .subset2(e1, "name") == .subset2(e2, "name")
  switch(.Generic,
    "==" = same,
    "!=" = !same,
    refuse("dtypes can be compared by == and != only")
  )
}

torch_device <- function(type) {
  if (!identical(type, "cpu")) {
    refuse("tensors of this package are in the memory of the processor: there is no device ", type)
  }
  structure(list(type = type, index = NULL), class = "torch_device")
}

cuda_is_available <- function() FALSE
cuda_device_count <- function() 0L

# What torch does by its compiler.
jit_compile <- function(...) refuse_jit("jit_compile")
jit_load <- function(...) refuse_jit("jit_load")
jit_save <- function(...) refuse_jit("jit_save")
jit_trace <- function(...) refuse_jit("jit_trace")

refuse_jit <- function(name) {
  refuse(name, "() needs the compiler of torch, which is not here: call the function itself")
}

print.torch_device <- function(x, ...) {
  cat("torch_device(type='", x$type, "')\n", sep = "")
  invisible(x)
}
