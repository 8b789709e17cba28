#include "mpi/datatype/external.hpp"

#include <climits>
#include <cstring>
#include <string>

#include "live_impl.hpp"
#include "mpi/core/block.hpp"
#include "mpi/datatype/description.hpp"

namespace foretrace::mpi {
namespace {

__extension__ using Quad = __float128;

enum class Form : std::uint8_t {
  reversed,    // the same bytes, most significant first
  low_signed,  // an integer cut to fewer bytes
  low_unsigned,
  extended,  // long double as IEEE binary128
};

// A number is `parts` equal numbers: 2 of a complex one.
struct Conversion {
  int parts;
  int inside;    // bytes of a part in memory
  int external;  // and in external32
  Form form;
};

Conversion conversion_of(Scalar scalar, int external) {
  switch (scalar) {
    case Scalar::complex_float32:
      return {2, 4, 4, Form::reversed};
    case Scalar::complex_float64:
      return {2, 8, 8, Form::reversed};
    case Scalar::complex_float128:
      return {2, 16, 16, Form::reversed};
    case Scalar::two_complex_float32:
      return {4, 4, 4, Form::reversed};
    case Scalar::two_complex_float64:
      return {4, 8, 8, Form::reversed};
    case Scalar::extended:
      return {1, 16, 16, Form::extended};
    case Scalar::complex_extended:
      return {2, 16, 16, Form::extended};
    default:
      break;
  }
  const int inside = size_of(scalar);
  if (inside == external) return {1, inside, external, Form::reversed};
  return {1, inside, external, scalar == Scalar::int64 ? Form::low_signed : Form::low_unsigned};
}

void reverse(std::byte* to, const std::byte* from, int length) {
  for (int i = 0; i < length; ++i) to[i] = from[length - 1 - i];
}

void write(const Conversion& conversion, const std::byte* from, std::byte* to) {
  for (int part = 0; part < conversion.parts; ++part) {
    if (conversion.form == Form::extended) {
      long double value;
      std::memcpy(&value, from, sizeof value);
      const Quad quad = value;
      std::byte bytes[sizeof quad];
      std::memcpy(bytes, &quad, sizeof quad);
      reverse(to, bytes, sizeof quad);
    } else {
      reverse(to, from, conversion.external);  // of an integer the low bytes
    }
    from += conversion.inside;
    to += conversion.external;
  }
}

void read(const Conversion& conversion, const std::byte* from, std::byte* to) {
  for (int part = 0; part < conversion.parts; ++part) {
    if (conversion.form == Form::extended) {
      std::byte bytes[sizeof(Quad)];
      reverse(bytes, from, sizeof bytes);
      Quad quad;
      std::memcpy(&quad, bytes, sizeof quad);
      const auto value = static_cast<long double>(quad);
      std::memset(to, 0, sizeof value);
      std::memcpy(to, &value, 10);  // what it has beside padding
    } else {
      const bool negative =
          conversion.form == Form::low_signed && (from[0] & std::byte{0x80}) != std::byte{};
      reverse(to, from, conversion.external);
      if (conversion.inside > conversion.external)
        std::memset(to + conversion.external, negative ? 0xff : 0,
                    static_cast<std::size_t>(conversion.inside - conversion.external));
    }
    from += conversion.external;
    to += conversion.inside;
  }
}

// Calls visit(displacement, conversion) for the one or two numbers of a basic type.
template <class Visit>
void visit_numbers(const BasicType& basic, Visit&& visit) {
  if (!basic.is_pair()) return visit(MPI_Count{0}, conversion_of(basic.value, basic.external));
  visit(MPI_Count{0}, conversion_of(basic.value, external_size_of(basic.value)));
  visit(MPI_Count{basic.index_at}, conversion_of(basic.index, external_size_of(basic.index)));
}

std::uint64_t external_bytes(const TypeMap& map) {
  if (map.only) return map.size / map.only->size * map.only->external;
  const auto times = [](MPI_Count count, const TypeMap& child) {
    return count > 0 ? static_cast<std::uint64_t>(count) * external_bytes(child) : 0;
  };
  std::uint64_t bytes = 0;
  switch (map.kind) {
    case TypeMap::Kind::empty:
    case TypeMap::Kind::basic:
      break;
    case TypeMap::Kind::repeat:
      return times(map.count, *map.child);
    case TypeMap::Kind::blocks:
      for (const TypeMap::Block& block : map.blocks) bytes += times(block.count, *map.child);
      break;
    case TypeMap::Kind::fields:
      for (const TypeMap::Field& field : map.fields) bytes += times(field.count, *field.child);
  }
  return bytes;
}

}  // namespace

std::uint64_t external_bytes(MPI_Count count, const Datatype& type) {
  return count > 0 ? static_cast<std::uint64_t>(count) * external_bytes(*layout_of(type).map) : 0;
}

void pack_external(const void* buffer, MPI_Count count, const Datatype& type, std::byte* out) {
  const auto* user = static_cast<const std::byte*>(buffer);
  const TypeMap& map = *layout_of(type).map;
  for (MPI_Count i = 0; i < count; ++i) {
    visit_elements(map, i * type.extent, [&](MPI_Count at, const BasicType& basic) {
      visit_numbers(basic, [&](MPI_Count inside, const Conversion& conversion) {
        write(conversion, user + at + inside, out);
        out += conversion.parts * conversion.external;
      });
      return true;
    });
  }
}

void unpack_external(const std::byte* in, std::uint64_t bytes, void* buffer, MPI_Count count,
                     const Datatype& type) {
  auto* user = static_cast<std::byte*>(buffer);
  const TypeMap& map = *layout_of(type).map;
  for (MPI_Count i = 0; i < count; ++i) {
    const bool more =
        visit_elements(map, i * type.extent, [&](MPI_Count at, const BasicType& basic) {
          if (bytes < basic.external) return false;
          bytes -= basic.external;
          visit_numbers(basic, [&](MPI_Count inside, const Conversion& conversion) {
            read(conversion, in, user + at + inside);
            in += conversion.parts * conversion.external;
          });
          return true;
        });
    if (!more) return;
  }
}

namespace {

struct ExternalCall {
  ExternalCall(const char* datarep, MPI_Datatype datatype, MPI_Count count, const void* result) {
    if (!datarep || std::strcmp(datarep, "external32") != 0) {
      error = raise(MPI_ERR_ARG, std::string("data representation \"") + (datarep ? datarep : "") +
                                     "\", expected \"external32\"");
      return;
    }
    if ((error = check_result(result, "position or size"))) return;
    if (count < 0) {
      error = raise(MPI_ERR_COUNT, "count " + std::to_string(count) + ", expected at least 0");
      return;
    }
    type = old_type(datatype, error);
    if (!type) return;
    if (!type->committed) error = raise(MPI_ERR_TYPE, "the datatype is not committed");
    bytes = external_bytes(count, *type);
  }

  int check_room(MPI_Count size, MPI_Count position) const {
    const MPI_Count room = position >= 0 && size > position ? size - position : 0;
    if (position >= 0 && static_cast<std::uint64_t>(room) >= bytes) return MPI_SUCCESS;
    return raise(position < 0 ? MPI_ERR_ARG : MPI_ERR_TRUNCATE,
                 std::to_string(bytes) + " bytes from position " + std::to_string(position) +
                     " on do not fit in a buffer of " + std::to_string(size));
  }

  Datatype* type = nullptr;
  std::uint64_t bytes = 0;
  int error = MPI_SUCCESS;
};

template <class Number, class Size>
int pack_call(const char* datarep, const void* inbuf, Number count, MPI_Datatype datatype,
              void* outbuf, Size outsize, Size* position) {
  const ExternalCall call(datarep, datatype, count, position);
  if (call.error) return call.error;
  if (int error = call.check_room(outsize, *position)) return error;
  pack_external(inbuf, count, *call.type, static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<Size>(call.bytes);
  return MPI_SUCCESS;
}

template <class Number, class Size>
int unpack_call(const char* datarep, const void* inbuf, Size insize, Size* position, void* outbuf,
                Number count, MPI_Datatype datatype) {
  const ExternalCall call(datarep, datatype, count, position);
  if (call.error) return call.error;
  if (int error = call.check_room(insize, *position)) return error;
  unpack_external(static_cast<const std::byte*>(inbuf) + *position, call.bytes, outbuf, count,
                  *call.type);
  *position += static_cast<Size>(call.bytes);
  return MPI_SUCCESS;
}

template <class Number, class Size>
int size_call(const char* datarep, Number count, MPI_Datatype datatype, Size* size) {
  const ExternalCall call(datarep, datatype, count, size);
  if (call.error) return call.error;
  *size = static_cast<Size>(call.bytes);
  return MPI_SUCCESS;
}

}  // namespace

namespace impl {

int Pack_external(const char* datarep, const void* inbuf, int count, MPI_Datatype datatype,
                  void* outbuf, MPI_Aint outsize, MPI_Aint* position) {
  return pack_call(datarep, inbuf, count, datatype, outbuf, outsize, position);
}

int Unpack_external(const char* datarep, const void* inbuf, MPI_Aint insize, MPI_Aint* position,
                    void* outbuf, int count, MPI_Datatype datatype) {
  return unpack_call(datarep, inbuf, insize, position, outbuf, count, datatype);
}

int Pack_external_size(const char* datarep, int count, MPI_Datatype datatype, MPI_Aint* size) {
  return size_call(datarep, count, datatype, size);
}

#if MPI_VERSION >= 4
int Pack_external_c(const char* datarep, const void* inbuf, MPI_Count count, MPI_Datatype datatype,
                    void* outbuf, MPI_Count outsize, MPI_Count* position) {
  return pack_call(datarep, inbuf, count, datatype, outbuf, outsize, position);
}

int Unpack_external_c(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position,
                      void* outbuf, MPI_Count count, MPI_Datatype datatype) {
  return unpack_call(datarep, inbuf, insize, position, outbuf, count, datatype);
}

int Pack_external_size_c(const char* datarep, MPI_Count count, MPI_Datatype datatype,
                         MPI_Count* size) {
  return size_call(datarep, count, datatype, size);
}
#endif

}  // namespace impl
}  // namespace foretrace::mpi
