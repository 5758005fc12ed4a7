// What a compiled program needs around it: memory straight from the C library,
// where a memory checker watches it, arguments, and someone who looks at results.

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *_mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t size) {
  void *memory = 0;
  if (posix_memalign(&memory, alignment, size))
    abort();
  return memory;
}
void *_mlir_memref_to_llvm_alloc(uint64_t size) { return malloc(size); }
void _mlir_memref_to_llvm_free(void *memory) { free(memory); }

// memref.copy between layouts that are not both contiguous.
void memrefCopy(int64_t bytes, void *from, void *to) {
  struct Unranked {
    int64_t rank;
    int64_t *words;
  } *source = from, *target = to;
  int64_t rank = source->rank, count = 1;
  const int64_t *sizes = source->words + 3;
  for (int64_t i = 0; i < rank; ++i)
    count *= sizes[i];
  for (int64_t linear = 0; linear < count; ++linear) {
    int64_t rest = linear, read = source->words[2], write = target->words[2];
    for (int64_t i = rank - 1; i >= 0; --i) {
      read += rest % sizes[i] * source->words[3 + rank + i];
      write += rest % sizes[i] * target->words[3 + rank + i];
      rest /= sizes[i];
    }
    memcpy((char *)target->words[1] + write * bytes,
           (char *)source->words[1] + read * bytes, bytes);
  }
}

// The memory of the arguments: freed in the end unless it was given away.
static struct {
  void *memory;
  int donated;
} arguments[64];
static int argumentCount;
static void *owned[64];
static int ownedCount;

static void make(int64_t *words, int donated, int seed, int bytes, int data,
                 char kind, int rank, ...) {
  int64_t count = 1;
  va_list sizes;
  va_start(sizes, rank);
  for (int i = 0; i < rank; ++i)
    count *= words[3 + i] = va_arg(sizes, int64_t);
  va_end(sizes);
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    words[3 + rank + i] = stride;
    stride *= words[3 + i];
  }
  char *memory = _mlir_memref_to_llvm_aligned_alloc(64, count * bytes);
  memset(memory, 0, count * bytes);
  for (int64_t i = 0; i < count; ++i) {
    double number = ((i * 7 + seed * 3) % 9 - 4) / 4.0;
    char *at = memory + i * bytes;
    if (kind == 'i')
      *at = data == 1 && bytes == 1 ? i & 1 : (i + seed) % 3;
    else if (kind == 'b') {
      float exact = number; // a bf16 is the upper half
      memcpy(at, (char *)&exact + 2, 2);
    }
    else if (kind == 'f' && bytes == 2)
      *(_Float16 *)at = number;
    else if (kind == 'f' && bytes == 4)
      *(float *)at = number;
    else if (kind == 'f')
      *(double *)at = number;
  }
  words[0] = words[1] = (int64_t)memory;
  words[2] = 0;
  arguments[argumentCount].memory = memory;
  arguments[argumentCount++].donated = donated;
}

// Branches on every byte: a memory checker reports what was never written.
static volatile int64_t seen;
static void look(const void *memory, int bytes) {
  for (int i = 0; i < bytes; ++i)
    if (((const unsigned char *)memory)[i] > 100)
      ++seen;
}

static void take(const int64_t *words, int bytes, int data, char kind, int rank,
                 ...) {
  int64_t count = 1;
  for (int i = 0; i < rank; ++i)
    count *= words[3 + i];
  for (int64_t linear = 0; linear < count; ++linear) {
    int64_t rest = linear, at = words[2];
    for (int i = rank - 1; i >= 0; --i) {
      at += rest % words[3 + i] * words[3 + rank + i];
      rest /= words[3 + i];
    }
    look((char *)words[1] + at * bytes, data);
  }
  void *memory = (void *)words[0];
  for (int i = 0; i < argumentCount; ++i)
    if (arguments[i].memory == memory) {
      arguments[i].donated = 0; // the caller's again
      return;
    }
  for (int i = 0; i < ownedCount; ++i)
    if (owned[i] == memory)
      return;
  owned[ownedCount++] = memory;
}

static void finish(void) {
  for (int i = 0; i < ownedCount; ++i)
    free(owned[i]);
  for (int i = 0; i < argumentCount; ++i)
    if (!arguments[i].donated)
      free(arguments[i].memory);
  ownedCount = argumentCount = 0;
}
