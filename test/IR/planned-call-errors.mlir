// RUN: blocksparse-opt %s -verify-diagnostics -split-input-file

func.func @c61_none(%x: memref<8xf32>) {
  // expected-error @below {{expects a declared function @f, but got none}}
  blocksparse.planned_call @f(%x) outs() : (memref<8xf32>) -> ()
  return
}

// -----

func.func @f(%x: memref<8xf32>) { return }
func.func @c61_body(%x: memref<8xf32>) {
  // expected-error @below {{expects a declared function @f, but got one with a body}}
  blocksparse.planned_call @f(%x) outs() : (memref<8xf32>) -> ()
  return
}

// -----

memref.global @f : memref<8xf32>
func.func @c61_kind(%x: memref<8xf32>) {
  // expected-error @below {{expects a declared function @f, but got memref.global}}
  blocksparse.planned_call @f(%x) outs() : (memref<8xf32>) -> ()
  return
}

// -----

func.func private @f(memref<8xf32>) -> i32
func.func @c61_layout(%x: memref<8xf32>) {
  // expected-error @below {{expects @f to have type '(memref<8xf32, strided<[?], offset: ?>>) -> i32', but got '(memref<8xf32>) -> i32'}}
  blocksparse.planned_call @f(%x) outs() : (memref<8xf32>) -> ()
  return
}

// -----

func.func private @f(memref<8xf32, strided<[?], offset: ?>>)
func.func @c61_status(%x: memref<8xf32>) {
  // expected-error @below {{expects @f to have type '(memref<8xf32, strided<[?], offset: ?>>) -> i32', but got '(memref<8xf32, strided<[?], offset: ?>>) -> ()'}}
  blocksparse.planned_call @f(%x) outs() : (memref<8xf32>) -> ()
  return
}

// -----

func.func private @f(memref<9xf32, strided<[?], offset: ?>>) -> i32
func.func @c61_shape(%x: memref<8xf32>) {
  // expected-error @below {{expects @f to have type '(memref<8xf32, strided<[?], offset: ?>>) -> i32', but got '(memref<9xf32, strided<[?], offset: ?>>) -> i32'}}
  blocksparse.planned_call @f(%x) outs() : (memref<8xf32>) -> ()
  return
}

// -----

func.func private @f(memref<?xf32>, memref<?xf32>) -> i32
func.func @c46_mixed(%x: tensor<8xf32>, %y: memref<8xf32>) {
  // expected-error @below {{expects destinations that are all tensors or all memrefs, but got 'tensor<8xf32>' and 'memref<8xf32>'}}
  %0 = blocksparse.planned_call @f() outs(%x, %y) : (tensor<8xf32>, memref<8xf32>) -> tensor<8xf32>
  return
}
