// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestTensors.h"
#include "blocksparse/Reference/Matmul.h"

#include <cmath>

using namespace blocksparse;
using namespace blocksparse::ref;
using namespace blocksparse::ref::test;

namespace {

TEST(Epilogue, C69WhichGelu) {
  struct Case {
    Activation activation;
    double atOne, atMinusThree;
  } cases[] = {{Activation::geluErf, .8413447, -.0040497},
               {Activation::geluTanh, .8411920, -.0036374},
               {Activation::geluQuick, .8457958, -.0180713}};
  for (const Case &c : cases) {
    EXPECT_NEAR(activate(c.activation, 1, 0), c.atOne, 5e-8);
    EXPECT_NEAR(activate(c.activation, -3, 0), c.atMinusThree, 5e-8);
  }
}

TEST(Epilogue, OtherActivations) {
  EXPECT_EQ(activate(Activation::none, -2, 0), -2);
  EXPECT_EQ(activate(Activation::relu, -2, 0), 0);
  EXPECT_EQ(activate(Activation::relu, 2, 0), 2);
  EXPECT_EQ(activate(Activation::leakyRelu, -2, 0.1), -0.2);
  EXPECT_EQ(activate(Activation::leakyRelu, 2, 0.1), 2);
  EXPECT_EQ(activate(Activation::sigmoid, 0, 0), 0.5);
  EXPECT_NEAR(activate(Activation::silu, 1, 0), .7310586, 5e-8);
}

TEST(Epilogue, LimitsAndNaN) {
  for (const char *name : {"relu", "gelu_erf", "gelu_tanh", "gelu_quick", "sigmoid", "silu"}) {
    Activation activation = *parseActivation(name);
    EXPECT_EQ(activate(activation, -infinity, 0), 0) << name;
    EXPECT_EQ(activate(activation, infinity, 0), activation == Activation::sigmoid ? 1 : infinity);
    EXPECT_TRUE(std::isnan(activate(activation, quietNaN, 0)));
    EXPECT_NEAR(activate(activation, -1000, 0), 0, 1e-300);
  }
  EXPECT_TRUE(std::isnan(activate(Activation::leakyRelu, quietNaN, 0.1)));
  EXPECT_EQ(parseActivation("leaky_relu"), Activation::leakyRelu);
  EXPECT_EQ(parseActivation("none"), Activation::none);
  EXPECT_FALSE(parseActivation("gelu"));
}

// Tests out = act(left * (alpha * acc) * right + beta * input + bias) + residual.
TEST(Epilogue, OrderOfAllTerms) {
  HostTensor a = HostTensor::of(ElementType::f64, {2, 1}, {1, -1});
  HostTensor b = HostTensor::of(ElementType::f64, {1, 3}, {1, 2, 3});
  Epilogue e;
  e.alpha = 2;
  e.beta = 0.5;
  e.leftAlpha = HostTensor::of(ElementType::f64, {2}, {1, 10});
  e.rightAlpha = HostTensor::of(ElementType::f64, {3}, {1, 1, 4});
  e.input = HostTensor::of(ElementType::f64, {2, 3}, {2, 4, 6, 8, 10, 12});
  e.bias = HostTensor::of(ElementType::f64, {3}, {-1, -2, -3});
  e.residual = HostTensor::of(ElementType::f64, {1}, {0.25});
  e.activation = Activation::relu;
  std::string error;
  auto c = matmul(a, b, MatmulForm::linear, {}, e, error);
  ASSERT_TRUE(c) << error;
  // Row 0: 2+1-1, 4+2-2, 24+3-3; row 1: -20+4-1 etc. are below 0.
  HostTensor expected =
      HostTensor::of(ElementType::f64, {1, 1, 2, 3}, {2.25, 4.25, 24.25, 0.25, 0.25, 0.25});
  expectNear(*c, expected);

  // For a transposed result every operand still refers to the result as it is stored.
  e.input = e.input->transpose(0, 1);
  e.bias = e.bias->unsqueeze(1);
  std::swap(e.leftAlpha, e.rightAlpha);
  auto transposed = matmul(a, b, MatmulForm::linear, {.out = true}, e, error);
  ASSERT_TRUE(transposed) << error;
  expectNear(*transposed, expected.transpose(2, 3).contiguous());
}

TEST(Epilogue, RejectsTermsThatDoNotBroadcast) {
  Epilogue e;
  e.bias = ones({4});
  std::string error;
  EXPECT_FALSE(matmul(ones({2, 3}), ones({3, 5}), MatmulForm::linear, {}, e, error));
  EXPECT_EQ(error, "bias expects a shape that broadcasts to [1, 1, 2, 5], but "
                   "got [4]");
}

TEST(Epilogue, BatchedFactors) {
  Epilogue e;
  e.leftAlpha = HostTensor::of(ElementType::f64, {2, 1, 1}, {3, 5});
  std::string error;
  auto c = matmul(ones({2, 1, 4, 2}), ones({2, 2}), MatmulForm::linear, {}, e, error);
  ASSERT_TRUE(c) << error;
  expectAll(c->select(0, 0), 6);
  expectAll(c->select(0, 1), 10);
}

} // namespace
