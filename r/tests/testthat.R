library(testthat)
library(arraygrad)

test_check("arraygrad")
