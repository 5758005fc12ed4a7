"""One linear layer, applied a hundred times."""

act, weight = "tensor<10240x1024xf32>", "tensor<1024x1024xf32>"
print(
    f'func.func @f(%x: {act}, %w: {weight} {{es.param = #es.param<trainable "weight">}}, '
    f'%b: tensor<1024xf32> {{es.param = #es.param<trainable "bias">}}) -> {act} {{'
)
for i in range(100):
    before = f"%h{i - 1}" if i else "%x"
    print(f'  %h{i} = "torch.aten.linear"({before}, %w, %b) : ({act}, {weight}, tensor<1024xf32>) -> {act}')
print(f"  return %h99 : {act}\n}}")
