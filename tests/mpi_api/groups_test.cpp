#include "mpi_api/groups.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "mpi_api/names.hpp"

namespace foretrace::mpi_api {
namespace {

bool is_in_named(const char* group, std::string_view function) {
  return is_in(*find_group(group), function);
}

TEST(Groups, NamesAndPatterns) {
  EXPECT_TRUE(is_in_named("sends", "MPI_Send"));
  EXPECT_TRUE(is_in_named("sends", "MPI_Rsend"));
  EXPECT_FALSE(is_in_named("sends", "MPI_Qsend"));
  EXPECT_FALSE(is_in_named("sends", "MPI_Send_init"));
  EXPECT_TRUE(is_in_named("persistent", "MPI_Send_init"));
  EXPECT_TRUE(is_in_named("io", "MPI_File_open"));
  EXPECT_FALSE(is_in_named("io", "MPI_Info_create"));
}

TEST(Groups, LargeCountsAreWhereTheirOriginalsAre) {
  EXPECT_TRUE(is_in_named("collectives", "MPI_Ibcast_c"));
  EXPECT_TRUE(is_in_named("sends", "MPI_Sendrecv_c"));
  EXPECT_EQ(without_large_count("MPI_Send_c"), "MPI_Send");
  EXPECT_EQ(without_large_count("MPI_Send"), "MPI_Send");
}

TEST(Groups, AnyOfSeveral) {
  EXPECT_TRUE(is_in_any("MPI_Waitall_c", {"sends", "waits"}));
  EXPECT_FALSE(is_in_any("MPI_Testall", {"sends", "waits"}));
  EXPECT_FALSE(is_in_any("MPI_Testall", {}));
}

TEST(Groups, ASendIsOfOneModeAtMost) {
  for (const char* name : {"MPI_Send", "MPI_Isend", "MPI_Send_init", "MPI_Sendrecv"})
    EXPECT_FALSE(is_in_any(name, {"synchronous", "buffered", "ready"})) << name;
  for (const auto& [mode, letter] :
       {std::pair("synchronous", 's'), {"buffered", 'b'}, {"ready", 'r'}})
    for (const std::string& name :
         {std::string("MPI_") + static_cast<char>(letter - 32) + "send",
          std::string("MPI_I") + letter + "send",
          std::string("MPI_") + static_cast<char>(letter - 32) + "send_init"})
      for (const char* other : {"synchronous", "buffered", "ready"})
        EXPECT_EQ(is_in_named(other, name), other == std::string_view(mode)) << name;
}

TEST(Names, AsMachineModelsWriteThem) {
  for (const char* name : {"MPI_Put", "MPI_Put_c", "mpi_put", "Put", "put"})
    EXPECT_EQ(model_name(name), "put") << name;
  EXPECT_EQ(model_name("MPI_Win_lock_all"), "win_lock_all");
  EXPECT_EQ(model_name("recvmin"), "recvmin");
  EXPECT_EQ(model_name(""), "");
}

TEST(Groups, SomeArePartsOfOthers) {
  for (const auto& [part, whole] : {std::pair("all_for_all", "collectives"),
                                    {"barriers", "collectives"},
                                    {"epochs", "one_sided"},
                                    {"fetches", "with_others"},
                                    {"file_posts", "io"}})
    for (const Pattern& pattern : find_group(part)->patterns) {
      std::string name(pattern.text);
      std::erase(name, '*');
      EXPECT_TRUE(is_in_named(whole, name.ends_with("[vw]") ? "MPI_Alltoallv" : name)) << name;
    }
}

TEST(Groups, NoGroupOfThatName) {
  EXPECT_EQ(find_group("sendings"), nullptr);
}

TEST(Groups, Polls) {
  for (const char* name : {"MPI_Test", "MPI_Testany", "MPI_Iprobe", "MPI_Request_get_status"})
    EXPECT_TRUE(is_poll(name)) << name;
  for (const char* name : {"MPI_Wait", "MPI_Probe", "MPI_Test_cancelled", "COMPUTE"})
    EXPECT_FALSE(is_poll(name)) << name;
}

// What the classes of the handlers' table say of their functions' groups.
const std::map<std::string, std::vector<const char*>> kGroupsOfClasses = {
    {"send", {"sends"}},
    {"isend", {"sends", "nonblocking"}},
    {"recv", {"receives"}},
    {"irecv", {"receives", "nonblocking"}},
    {"mrecv", {"receives"}},
    {"imrecv", {"receives", "nonblocking"}},
    {"sendrecv", {"sends", "receives"}},
    {"isendrecv", {"sends", "receives", "nonblocking"}},
    {"send_init", {"persistent"}},
    {"recv_init", {"persistent"}},
    {"start", {"persistent", "starts"}},
    {"startall", {"persistent", "starts"}},
    {"probe", {"probes"}},
    {"improbe", {"probes", "polls"}},
    {"wait", {"waits", "completions"}},
    {"waitall", {"waits", "completions"}},
    {"test", {"polls", "completions"}},
    {"testsome", {"polls", "completions"}},
    {"collective", {"collectives"}},
    {"neighbor", {"collectives"}},
    {"comm_create", {"comm_meetings"}},
    {"comm_idup", {"comm_meetings", "nonblocking"}},
    {"comm_free", {"comm_meetings"}},
    {"win_create", {"one_sided"}},
    {"win_access", {"one_sided"}},
    {"win_flush", {"one_sided", "epochs"}},
    {"win_lock", {"one_sided", "epochs"}},
    {"file_open", {"io"}},
    {"file_collective", {"io"}},
    {"file_access", {"io"}},
};

TEST(Groups, AgreeWithTheTableOfHandlers) {
  std::ifstream table(FORETRACE_SOURCE_DIR "/src/mpi_api/functions.txt");
  ASSERT_TRUE(table);
  std::set<std::string> seen;
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    std::string of;
    words >> name >> of;
    const auto found = kGroupsOfClasses.find(of);
    if (found == kGroupsOfClasses.end()) continue;
    seen.insert(of);
    for (const char* group : found->second)
      EXPECT_TRUE(is_in_named(group, name)) << name << " is no member of " << group;
  }
  EXPECT_EQ(seen.size(), kGroupsOfClasses.size());
}

// A row of a collective holds for its other forms, too.
TEST(Groups, FormsOfCollectives) {
  for (const char* posted : {"MPI_Ibcast", "MPI_Ialltoallw", "MPI_Ineighbor_allgatherv",
                             "MPI_Ireduce_scatter_block", "MPI_Iexscan", "MPI_Ibarrier"}) {
    EXPECT_TRUE(is_in_named("collectives", posted)) << posted;
    EXPECT_TRUE(is_in_named("nonblocking", posted)) << posted;
  }
  EXPECT_TRUE(is_in_named("persistent", "MPI_Neighbor_allgather_init"));
  EXPECT_FALSE(is_in_named("collectives", "MPI_Neighbor_allgather_init"));
}

}  // namespace
}  // namespace foretrace::mpi_api
