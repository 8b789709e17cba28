// external32: the bytes of numbers are what the standard says, and come back.
// live: ranks 1
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

namespace {

std::string hex(const std::vector<unsigned char>& bytes) {
  std::string text;
  char digits[3];
  for (const unsigned char byte : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

template <class Number>
bool same(const Number& a, const Number& b) {
  return std::memcmp(&a, &b, sizeof(Number)) == 0;
}
// Not all of its bytes count.
bool same(long double a, long double b) {
  return a == b;
}

template <class Number>
void check(const char* name, Number number, MPI_Datatype type, const std::string& expected) {
  MPI_Aint size = 0, position = 0;
  CHECK_OK(MPI_Pack_external_size("external32", 1, type, &size));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size));
  CHECK_OK(MPI_Pack_external("external32", &number, 1, type, bytes.data(), size, &position));
  CHECK(position == size, "%s: position %ld of %ld", name, position, size);
  CHECK(hex(bytes) == expected, "%s is %s, expected %s", name, hex(bytes).c_str(),
        expected.c_str());
  Number back{};
  position = 0;
  CHECK_OK(MPI_Unpack_external("external32", bytes.data(), size, &position, &back, 1, type));
  CHECK(same(back, number), "%s does not come back", name);
}

struct Mixed {
  char letter;
  int whole;
  double real;
};

}  // namespace

int main(int argc, char** argv) {
  check_init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check("char", 'a', MPI_CHAR, "61");
  check("byte", 'b', MPI_BYTE, "62");
  check("short", static_cast<short>(-2), MPI_SHORT, "fffe");
  check("int", 0x01020304, MPI_INT, "01020304");
  check("unsigned", 0xf1020304u, MPI_UNSIGNED, "f1020304");
  check("long long", 0x0102030405060708LL, MPI_LONG_LONG, "0102030405060708");
  check("int64", static_cast<std::int64_t>(-3), MPI_INT64_T, "fffffffffffffffd");
  check("float", 1.5f, MPI_FLOAT, "3fc00000");
  check("double", -2.25, MPI_DOUBLE, "c002000000000000");
  check("aint", static_cast<MPI_Aint>(258), MPI_AINT, "0000000000000102");
  if (!known_defect("mpich") && !known_defect("openmpi")) {
    check("long", -5L, MPI_LONG, "fffffffb");
    check("unsigned long", 0x81020304ul, MPI_UNSIGNED_LONG, "81020304");
    check("long double", 1.5L, MPI_LONG_DOUBLE, "3fff8000000000000000000000000000");
    check("complex", std::complex<float>(1.5f, -2), MPI_C_COMPLEX, "3fc00000c0000000");
    check("double complex", std::complex<double>(1.5, -2), MPI_C_DOUBLE_COMPLEX,
          "3ff8000000000000c000000000000000");
    struct Located {
      double value;
      int index, hole;
    };
    check("pair", Located{1.5, 3, 0}, MPI_DOUBLE_INT, "3ff800000000000000000003");
  }

  if (known_defect("mpich")) return check_end();  // an illegal instruction
  // A struct and a vector.
  const int lengths[] = {1, 1, 1};
  const MPI_Aint at[] = {0, 4, 8};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE};
  MPI_Datatype mixed, row;
  MPI_Type_create_struct(3, lengths, at, types, &mixed);
  MPI_Type_commit(&mixed);
  Mixed number;
  std::memset(&number, 0, sizeof number);
  number.letter = 'z';
  number.whole = 7;
  number.real = 1.5;
  check("struct", number, mixed, "7a000000073ff8000000000000");
  MPI_Type_vector(2, 1, 3, MPI_SHORT, &row);
  MPI_Type_commit(&row);
  struct Row {
    short s[4];
  };
  check("vector", Row{{1, 0, 0, 2}}, row, "00010002");
  MPI_Type_free(&mixed);
  MPI_Type_free(&row);
  return check_end();
}
