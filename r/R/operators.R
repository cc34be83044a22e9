# Operators and functions of base R on tensors.

# A vector or an array of R as a tensor of the precision of another; a single number stays one.
as_operand <- function(value, other) {
  if (is_torch_tensor(value) || (is.null(dim(value)) && length(value) == 1)) {
    return(value)
  }
  precise <- typeof(value) %in% c("double", "complex") && is_torch_tensor(other) &&
    .subset2(other$dtype, "name") %in% c("float64", "complex128")
  torch_tensor(value, if (!precise) NULL else if (is.complex(value)) torch_cdouble() else other$dtype)
}

operators <- c(
  "+" = "torch_add", "-" = "torch_sub", "*" = "torch_mul", "/" = "torch_div", "^" = "torch_pow",
  "%%" = "torch_remainder", "%/%" = "torch_floor_divide",
  "==" = "torch_eq", "!=" = "torch_ne", "<" = "torch_lt", "<=" = "torch_le", ">" = "torch_gt",
  ">=" = "torch_ge", "&" = "torch_logical_and", "|" = "torch_logical_or"
)

Ops.torch_tensor <- function(e1, e2) {
  if (missing(e2)) {
    return(switch(.Generic, "-" = torch_neg(e1), "!" = torch_logical_not(e1), e1))
  }
  call_python(operators[[.Generic]], as_operand(e1, e2), as_operand(e2, e1))
}

functions_of_math <- c(
  abs = "abs", acos = "acos", acosh = "acosh", asin = "asin", asinh = "asinh", atan = "atan",
  atanh = "atanh", ceiling = "ceil", cos = "cos", cosh = "cosh", digamma = "digamma", exp = "exp",
  expm1 = "expm1", floor = "floor", lgamma = "lgamma", log10 = "log10", log1p = "log1p",
  log2 = "log2", sign = "sign", sin = "sin", sinh = "sinh", sqrt = "sqrt", tan = "tan",
  tanh = "tanh", trunc = "trunc"
)

Math.torch_tensor <- function(x, ...) {
  if (.Generic %in% names(functions_of_math)) {
    return(call_python(paste0("torch_", functions_of_math[[.Generic]]), x))
  }
  switch(.Generic,
    log = natural_or_other_log(x, ...),
    round = torch_round(x, ...),
    cumsum = torch_cumsum(torch_flatten(x), 1),
    cumprod = torch_cumprod(torch_flatten(x), 1),
    gamma = torch_exp(torch_lgamma(x)) * gamma_sign(x),
    refuse(.Generic, "() is not defined for tensors")
  )
}

natural_or_other_log <- function(x, base = exp(1)) {
  if (missing(base)) torch_log(x) else torch_log(x) / log(base)
}

# The gamma function is negative between -1 and 0, between -3 and -2, and so on.
gamma_sign <- function(x) torch_where(x > 0, 1, 1 - 2 * (torch_floor(x) %% 2))

Summary.torch_tensor <- function(..., na.rm = FALSE) {
  tensors <- list(...)
  if (na.rm || length(tensors) != 1) {
    refuse(.Generic, "() takes one tensor, and no na.rm")
  }
  x <- tensors[[1]]
  switch(.Generic,
    all = torch_all(x),
    any = torch_any(x),
    sum = torch_sum(x),
    prod = torch_prod(x),
    max = torch_max(x),
    min = torch_min(x),
    range = torch_stack(list(torch_min(x), torch_max(x)))
  )
}
