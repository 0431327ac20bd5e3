// RUN: blocksparse-opt %s --split-input-file --verify-diagnostics

func.func @rank(%crow: tensor<5xi32>, %col: tensor<1x?xi32>, %n: index) {
  // expected-error @+1 {{expects col_indices of rank 1, as crow_indices, but got rank 2}}
  blocksparse.check_pattern %crow, %col cols(%n) {subject = "f"} : tensor<5xi32>, tensor<1x?xi32>
  return
}

// -----

func.func @type(%crow: tensor<5xi32>, %col: tensor<?xi64>, %n: index) {
  // expected-error @+1 {{expects col_indices of the element type of crow_indices, 'i32', but got 'i64'}}
  blocksparse.check_pattern %crow, %col cols(%n) {subject = "f"} : tensor<5xi32>, tensor<?xi64>
  return
}

// -----

func.func @count(%c: tensor<5xi32>, %n: index) {
  // expected-error @+1 {{expects 2 index tensors in the format scatter_mm, but got 1}}
  blocksparse.check_scatter_indices indices(%c) blocks(%n, %n, %n) others(%n) accumulators(%n, %n) {subject = "f"} : tensor<5xi32>
  return
}

// -----

func.func @split(%c: tensor<5xi32>, %pq: tensor<?x2xi32>, %n: index) {
  // expected-error @+1 {{expects split_n 1 in the format scatter_mm, but got 2}}
  blocksparse.check_scatter_indices indices(%c, %pq) blocks(%n, %n, %n) others(%n) accumulators(%n, %n)
      {subject = "f", split_n = 2 : i64} : tensor<5xi32>, tensor<?x2xi32>
  return
}

// -----

func.func @record(%record: memref<6xi64>) {
  // expected-error @+1 {{operand #0 must be record of a fault, i64 [7], but got 'memref<6xi64>'}}
  blocksparse.refuse %record {subject = "f"} : memref<6xi64>
  return
}

// -----

func.func @unknown(%crow: tensor<5xi32>, %col: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{expects an attribute of this operation (subject, unique), of which 'unique' is the nearest, but got 'once'}}
  blocksparse.check_pattern %crow, %col cols(%n) {subject = "f", once} : tensor<5xi32>, tensor<?xi32>
  return
}
