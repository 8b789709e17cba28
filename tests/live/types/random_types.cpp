// Random derived datatypes: the library's answers about them against a plain model
// (the list of basic elements), and against the real MPI's (extents, envelopes).
// live: ranks 1
// live: compare
// Arguments: seed, number of types.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "names.h"
#include "random.h"

namespace {

int between(int low, int high) {
  return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1));
}

// Open MPI packs something else where the stride is -1.
int stride_for(int low, int high) {
  const int stride = between(low, high);
  return stride == -1 ? high : stride;
}

struct Element {
  long at;
  int size;
};

struct Model {
  MPI_Datatype type;
  std::vector<Element> elements;
  MPI_Aint lb, extent;
  int depth;
};

constexpr std::size_t kMostElements = 600;
constexpr long kMostExtent = 40000;

struct Basic {
  MPI_Datatype type;
  int size;
};
const Basic kBasics[] = {
    {MPI_CHAR, 1},  {MPI_BYTE, 1},   {MPI_SHORT, 2}, {MPI_INT, 4},
    {MPI_FLOAT, 4}, {MPI_DOUBLE, 8}, {MPI_LONG, 8},  {MPI_C_DOUBLE_COMPLEX, 16},
};

std::vector<Model> pool;

const Model& pick() {
  if (pool.size() > 8 && between(0, 2) > 0) return pool[8 + next() % (pool.size() - 8)];
  return pool[next() % 8];
}

void add_row(Model& model, const Model& child, long at, long count) {
  for (long i = 0; i < count; ++i) {
    for (const Element& element : child.elements) {
      if (model.elements.size() > kMostElements) return;
      model.elements.push_back({at + i * child.extent + element.at, element.size});
    }
  }
}

struct Lists {
  std::vector<int> lengths, displacements;
  std::vector<MPI_Aint> addresses;
  int count;
  explicit Lists(const Model& child) : count(between(0, 5)) {
    const bool ascending = between(0, 2) > 0;
    int at = between(-3, 3);
    for (int i = 0; i < count; ++i) {
      lengths.push_back(between(0, 3));
      displacements.push_back(ascending ? at : between(-8, 8));
      addresses.push_back(displacements.back() * child.extent +
                          (between(0, 1) ? between(-9, 9) : 0));
      at += lengths.back() + between(0, 2);
    }
  }
};

// Makes a random type of `child`s; its model's bounds are the library's own.
Model make(int& kind) {
  Model model;
  const Model child = pick();
  model.depth = child.depth + 1;
  kind = between(0, 10);
  switch (kind) {
    case 0: {
      const int count = between(0, 6);
      MPI_Type_contiguous(count, child.type, &model.type);
      add_row(model, child, 0, count);
      break;
    }
    case 1: {
      const int count = between(0, 5), length = between(0, 4), stride = stride_for(-5, 8);
      MPI_Type_vector(count, length, stride, child.type, &model.type);
      for (int i = 0; i < count; ++i) add_row(model, child, i * stride * child.extent, length);
      break;
    }
    case 2: {
      const int count = between(0, 5), length = between(0, 4);
      const MPI_Aint stride = stride_for(-60, 120);
      MPI_Type_create_hvector(count, length, stride, child.type, &model.type);
      for (int i = 0; i < count; ++i) add_row(model, child, i * stride, length);
      break;
    }
    case 3: {
      const Lists lists(child);
      MPI_Type_indexed(lists.count, lists.lengths.data(), lists.displacements.data(), child.type,
                       &model.type);
      for (int i = 0; i < lists.count; ++i)
        add_row(model, child, lists.displacements[i] * child.extent, lists.lengths[i]);
      break;
    }
    case 4: {
      const Lists lists(child);
      MPI_Type_create_hindexed(lists.count, lists.lengths.data(), lists.addresses.data(),
                               child.type, &model.type);
      for (int i = 0; i < lists.count; ++i)
        add_row(model, child, lists.addresses[i], lists.lengths[i]);
      break;
    }
    case 5: {
      const Lists lists(child);
      const int length = between(0, 3);
      MPI_Type_create_indexed_block(lists.count, length, lists.displacements.data(), child.type,
                                    &model.type);
      for (int i = 0; i < lists.count; ++i)
        add_row(model, child, lists.displacements[i] * child.extent, length);
      break;
    }
    case 6: {
      const Lists lists(child);
      const int length = between(0, 3);
      MPI_Type_create_hindexed_block(lists.count, length, lists.addresses.data(), child.type,
                                     &model.type);
      for (int i = 0; i < lists.count; ++i) add_row(model, child, lists.addresses[i], length);
      break;
    }
    case 7: {
      const int count = between(0, 5);
      std::vector<int> lengths;
      std::vector<MPI_Aint> at;
      std::vector<MPI_Datatype> types;
      MPI_Aint place = between(-20, 20);
      for (int i = 0; i < count; ++i) {
        const Model field = pick();
        lengths.push_back(between(0, 3));
        at.push_back(place);
        types.push_back(field.type);
        add_row(model, field, place, lengths.back());
        place += lengths.back() * field.extent + between(0, 9);
        if (between(0, 5) == 0) place = between(-100, 100);
        model.depth = std::max(model.depth, field.depth + 1);
      }
      MPI_Type_create_struct(count, lengths.data(), at.data(), types.data(), &model.type);
      break;
    }
    case 8: {
      const MPI_Aint lb = between(-16, 16), extent = between(0, 100);
      MPI_Type_create_resized(child.type, lb, extent, &model.type);
      model.elements = child.elements;
      break;
    }
    case 9: {
      MPI_Type_dup(child.type, &model.type);
      model.elements = child.elements;
      break;
    }
    default: {
      const int ndims = between(1, 3);
      const bool fortran = between(0, 1) == 1;
      int sizes[3], subsizes[3], starts[3];
      for (int d = 0; d < ndims; ++d) {
        sizes[d] = between(1, 5);
        subsizes[d] = between(1, sizes[d]);
        starts[d] = between(0, sizes[d] - subsizes[d]);
      }
      MPI_Type_create_subarray(ndims, sizes, subsizes, starts,
                               fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, child.type, &model.type);
      long total = 1;
      for (int d = 0; d < ndims; ++d) total *= sizes[d];
      for (long i = 0; i < total; ++i) {
        // The i-th element in memory: is it in the subarray?
        bool inside = true;
        long rest = i;
        for (int k = 0; k < ndims; ++k) {
          const int d = fortran ? k : ndims - 1 - k;
          const long index = rest % sizes[d];
          rest /= sizes[d];
          inside = inside && index >= starts[d] && index < starts[d] + subsizes[d];
        }
        if (inside) add_row(model, child, i * child.extent, 1);
      }
    }
  }
  MPI_Type_get_extent(model.type, &model.lb, &model.extent);
  return model;
}

std::uint64_t hash_of(const std::vector<unsigned char>& bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

struct Span {
  long low = 0, high = 0;
};
Span span_of(const Model& model, int count) {
  Span span;
  bool first = true;
  for (int i = 0; i < count; ++i) {
    for (const Element& element : model.elements) {
      const long low = i * model.extent + element.at;
      span.low = first ? low : std::min(span.low, low);
      span.high = first ? low + element.size : std::max(span.high, low + element.size);
      first = false;
    }
  }
  return span;
}

void check_packing(int number, const Model& model, int count) {
  const Span span = span_of(model, count);
  const std::size_t room = static_cast<std::size_t>(span.high - span.low);
  std::vector<unsigned char> memory(room + 1);
  for (std::size_t i = 0; i < room; ++i)
    memory[i] = static_cast<unsigned char>(i * 7 + (i >> 8) * 13 + 1);
  unsigned char* user = memory.data() - span.low;

  std::vector<unsigned char> expected;
  for (int i = 0; i < count; ++i)
    for (const Element& element : model.elements)
      for (int b = 0; b < element.size; ++b)
        expected.push_back(user[i * model.extent + element.at + b]);

  int size = 0;
  MPI_Pack_size(count, model.type, MPI_COMM_WORLD, &size);
  CHECK(size >= static_cast<int>(expected.size()), "type %d: pack size %d", number, size);
  std::vector<unsigned char> packed(static_cast<std::size_t>(size) + 8);
  int position = 0;
  MPI_Pack(user, count, model.type, packed.data(), size, &position, MPI_COMM_WORLD);
  CHECK(position == static_cast<int>(expected.size()), "type %d: position %d, expected %zu", number,
        position, expected.size());
  packed.resize(expected.size());
  CHECK(packed == expected, "type %d, %d elements: packed bytes differ", number, count);

  // Unpacked into something else, and compared with what the model does, element by
  // element in order (types may overlap themselves; the last one stays).
  std::vector<unsigned char> target(room + 1, 0xaa), wanted(room + 1, 0xaa);
  std::size_t at = 0;
  for (int i = 0; i < count; ++i)
    for (const Element& element : model.elements)
      for (int b = 0; b < element.size; ++b)
        wanted[static_cast<std::size_t>(i * model.extent + element.at + b - span.low)] =
            expected[at++];
  position = 0;
  packed.push_back(0);
  MPI_Unpack(packed.data(), static_cast<int>(expected.size()), &position, target.data() - span.low,
             count, model.type, MPI_COMM_WORLD);
  CHECK(target == wanted, "type %d, %d elements: unpacked bytes differ", number, count);
  std::printf(" %d:%016llx", count, static_cast<unsigned long long>(hash_of(expected)));
}

void check_elements(int number, const Model& model) {
  int size = 0;
  MPI_Type_size(model.type, &size);
  if (size == 0) return;
  for (int i = 0; i < 6; ++i) {
    const int bytes = i < 2 ? i * size : (number * 31 + i * i * 1009) % (3 * size + 1);
    MPI_Status status;
    std::memset(&status, 0, sizeof status);
    MPI_Status_set_elements(&status, MPI_BYTE, bytes);
    int rest = bytes % size;
    int wanted = bytes / size * static_cast<int>(model.elements.size());
    for (const Element& element : model.elements) {
      if (rest == 0) break;
      wanted = rest >= element.size ? wanted + 1 : MPI_UNDEFINED;
      rest -= element.size;
      if (rest < 0) break;
    }
    int elements = -1, count = -1;
    MPI_Get_elements(&status, model.type, &elements);
    CHECK(elements == wanted, "type %d, %d of %d bytes: %d elements, expected %d", number, bytes,
          size, elements, wanted);
    MPI_Get_count(&status, model.type, &count);
    CHECK(count == (bytes % size ? MPI_UNDEFINED : bytes / size), "type %d: count %d", number,
          count);
  }
}

void check_contents(const Model& model) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(model.type, &integers, &addresses, &types, &combiner);
  std::vector<int> i(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> a(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Datatype> t(static_cast<std::size_t>(types) + 1);
  MPI_Type_get_contents(model.type, integers, addresses, types, i.data(), a.data(), t.data());
  const bool ordered = combiner == MPI_COMBINER_SUBARRAY;
  std::printf(" combiner %s i", combiner_name(combiner));
  for (int k = 0; k < integers - (ordered ? 1 : 0); ++k)
    std::printf(" %d", i[static_cast<std::size_t>(k)]);
  if (ordered) std::printf(" %s", order_name(i[static_cast<std::size_t>(integers) - 1]));
  std::printf(" a");
  for (int k = 0; k < addresses; ++k) std::printf(" %ld", a[static_cast<std::size_t>(k)]);
  std::printf(" t");
  for (int k = 0; k < types; ++k) {
    MPI_Datatype& child = t[static_cast<std::size_t>(k)];
    int size = 0, x = 0, y = 0, z = 0, child_combiner = 0;
    MPI_Type_size(child, &size);
    MPI_Type_get_envelope(child, &x, &y, &z, &child_combiner);
    std::printf(" %s/%d", combiner_name(child_combiner), size);
    if (child_combiner != MPI_COMBINER_NAMED) MPI_Type_free(&child);
  }
}

}  // namespace

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  state = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int number_of_types = argc > 2 ? std::atoi(argv[2]) : 400;
  for (const Basic& basic : kBasics)
    pool.push_back({basic.type, {{0, basic.size}}, 0, basic.size, 0});
  for (int number = 0; number < number_of_types; ++number) {
    int kind = 0;
    Model model = make(kind);
    const Span span = span_of(model, 3);
    // Types without data have bounds of their own in each MPI.
    if (model.elements.empty() || model.depth > 4 || model.elements.size() > kMostElements ||
        span.high - span.low > kMostExtent || std::labs(span.low) > kMostExtent) {
      MPI_Type_free(&model.type);
      continue;
    }
    MPI_Type_commit(&model.type);
    MPI_Aint true_lb = 0, true_extent = 0;
    MPI_Type_get_true_extent(model.type, &true_lb, &true_extent);
    const Span one = span_of(model, 1);
    CHECK(true_lb == one.low && true_extent == one.high - one.low,
          "type %d: true bounds %ld + %ld, expected %ld + %ld", number, true_lb, true_extent,
          one.low, one.high - one.low);
    int size = 0;
    MPI_Type_size(model.type, &size);
    std::printf("%05d kind %d size %d lb %ld extent %ld true %ld %ld", number, kind, size, model.lb,
                model.extent, true_lb, true_extent);
    check_packing(number, model, 1);
    check_packing(number, model, 3);
    if (!known_defect("mpich")) check_elements(number, model);  // wrong counts, division by 0
    check_contents(model);
    std::printf("\n");
    if (pool.size() < 40) {
      pool.push_back(model);
    } else {
      Model& old = pool[8 + next() % 32];
      MPI_Type_free(&old.type);
      old = model;
    }
  }
  for (Model& model : pool)
    if (model.depth > 0) MPI_Type_free(&model.type);
  return check_end();
}
