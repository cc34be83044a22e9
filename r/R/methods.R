# x$name: an attribute of a tensor, or a method. A function torch_name(self, ...) is a method name,
# and a method name_ writes its result in place.

attributes_of_tensors <- list(
  shape = function(x) as.integer(unlist(attribute(x, "shape"))),
  ndim = function(x) attribute(x, "ndim"),
  dtype = function(x) new_dtype(as.character(reticulate::py_str(
    reticulate::py_get_attr(tensor_object(x), "dtype")
  ))),
  device = function(x) torch_device("cpu"),
  grad = function(x) defined_or_undefined(attribute(x, "grad")),
  requires_grad = function(x) attribute(x, "requires_grad"),
  is_leaf = function(x) attribute(x, "is_leaf"),
  is_cuda = function(x) FALSE,
  real = function(x) torch_real(x),
  imag = function(x) torch_imag(x),
  grad_fn = function(x) attribute(x, "grad_fn")
)

methods_of_tensors <- list(
  backward = function(self, gradient = NULL, retain_graph = create_graph, create_graph = FALSE) {
    call_method(self, "backward", gradient, retain_graph, create_graph)
    invisible(NULL)
  },
  bool = function(self) torch_to(self, torch_bool()),
  contiguous = function(self) self,
  copy_ = function(self, src) written(self, "copy_", as_operand(src, self)),
  cpu = function(self) self,
  detach_ = function(self) written(self, "detach_"),
  dim = function(self) self$ndim,
  double = function(self) torch_to(self, torch_double()),
  fill_ = function(self, value) written(self, "fill_", value),
  float = function(self) torch_to(self, torch_float()),
  int = function(self) torch_to(self, torch_int()),
  item = function(self) call_method(self, "item"),
  long = function(self) torch_to(self, torch_long()),
  numel = function(self) as.integer(prod(self$shape)),
  print = function(self, n = 30) print(self, n = n),
  register_hook = function(self, hook) {
    register <- reticulate::py_get_attr(tensor_object(self), "register_hook")
    remove <- reticulate::py_get_attr(called(register, list(callback(hook))), "remove")
    list(remove = function() invisible(from_python(called(remove))))
  },
  requires_grad_ = function(self, requires_grad = TRUE) {
    written(self, "requires_grad_", requires_grad)
  },
  retain_grad = function(self) written(self, "retain_grad"),
  size = function(self, dim = NULL) {
    if (is.null(dim)) self$shape else dim(self)[if (dim < 0) dim + self$ndim + 1 else dim]
  },
  type_as = function(self, other) torch_to(self, other$dtype),
  view_as = function(self, other) torch_reshape(self, other$shape),
  zero_ = function(self) written(self, "zero_")
)

# Call a method that changes a tensor, and give the tensor.
written <- function(self, name, ...) {
  call_method(self, name, ...)
  invisible(self)
}

method_of <- function(name) {
  found <- methods_of_tensors[[name]]
  if (is.null(found)) {
    found <- get0(paste0("torch_", name), topenv(), mode = "function", inherits = FALSE)
    if (!is.null(found) && !identical(names(formals(found))[1], "self")) {
      found <- NULL
    }
  }
  if (is.null(found) && endsWith(name, "_")) {
    function_name <- substr(name, 1, nchar(name) - 1)
    found <- function(self, ...) {
      call_python("in_place", self, function_name, ...)
      invisible(self)
    }
  }
  found
}

`$.torch_tensor` <- function(x, name) {
  attribute <- attributes_of_tensors[[name]]
  if (!is.null(attribute)) {
    return(attribute(x))
  }
  method <- method_of(name)
  if (is.null(method)) {
    refuse("tensors have no attribute or method ", name)
  }
  function(...) method(x, ...)
}

`[[.torch_tensor` <- function(x, i, ...) {
  if (is.character(i)) `$.torch_tensor`(x, i) else x[i, ...]
}

`$<-.torch_tensor` <- function(x, name, value) {
  object <- tensor_object(x)
  if (!name %in% c("grad", "requires_grad")) {
    refuse("of a tensor, only grad and requires_grad can be set, not ", name)
  }
  if (is_undefined_tensor(value)) {
    value <- NULL
  }
  asked(reticulate::py_set_attr(object, name, to_python(value)))
  x
}

names.torch_tensor <- function(x) NULL

.DollarNames.torch_tensor <- function(x, pattern = "") {
  functions <- sub("^torch_", "", ls(topenv(), pattern = "^torch_"))
  known <- c(names(attributes_of_tensors), names(methods_of_tensors), functions)
  sort(unique(known[grepl(pattern, known)]))
}
