// Cuts each product to tiles, as another compiler may, and computes a product in the loop that uses it.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %dsd = transform.structured.match ops{["blocksparse.dsd"]} attributes {transpose_b} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_forall %dsd tile_sizes [20] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %dds = transform.structured.match ops{["blocksparse.dds"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_forall %dds tile_sizes [1, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %addmm = transform.structured.match ops{["blocksparse.bsr_addmm"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_forall %addmm tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %matmul = transform.structured.match ops{["blocksparse.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_using_for %matmul tile_sizes [16, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.fuse %exp tile_sizes [0, 10] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
