// RUN: not blocksparse-opt %s -convert-blocksparse-to-cpu=vector-bits=100 2>&1 | FileCheck %s

// CHECK: expects vector-bits to be a multiple of 128, but got 100
module {}
