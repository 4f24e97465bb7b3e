// SPDX-License-Identifier: Apache-2.0
// The guest protocol: what the node says to cordon-init, and what it hears. One stream, many
// processes; the buffer of record is in cordon-init.
//
// Every frame is a 32-bit length (of what follows), a type byte and the fields of one of these
// structs. Streams carry offsets from the process's start; nothing is forgotten by the guest before
// it is acknowledged, so that a host that comes back (Resume) loses nothing and sees each exit
// once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/result.h"
#include "frame/fences.h"
#include "frame/fields.h"
#include "frame/guest_files.h"
#include "frame/guest_trace.h"
#include "frame/guest_tree.h"
#include "frame/guest_tunnel.h"
#include "frame/guest_watch.h"

namespace cordon::frame {

inline constexpr std::uint16_t kGuestVersion = 6;
// The longest frame, its type byte included; longer ones end the connection.
inline constexpr std::size_t kLongestGuestFrame = std::size_t{2} << 20U;
// Bytes of data in one frame: small enough that no stream holds the others up.
inline constexpr std::size_t kMostData = std::size_t{64} << 10U;
// Bytes of input that the host may send beyond what InputTaken has confirmed.
inline constexpr std::uint64_t kInputWindow = std::uint64_t{256} << 10U;
// Bytes that the guest keeps of each output stream until they are acknowledged; then the writer
// waits.
inline constexpr std::uint32_t kDefaultRing = std::uint32_t{1} << 20U;

// Bits of the exit code of `cordon-init probe`: what the kernel that it stands on lacks.
inline constexpr std::uint32_t kLacksStatx = 1;    // statx with AT_NO_AUTOMOUNT
inline constexpr std::uint32_t kLacksAmbient = 2;  // ambient capabilities

// Of a command's first word in Processes.
inline constexpr std::size_t kLongestProcessName = 64;
// Process numbers are at most this: there is always a next one.
inline constexpr std::uint32_t kLastProcess = std::uint32_t{1} << 30U;
// Of the process that a sandbox is made with, where it is: then the first that a host asks for has
// the next number.
inline constexpr std::uint32_t kStandby = 1;

enum class Stream : std::uint8_t { out, err };  // a terminal has only `out`
constexpr Stream last_of(Stream) noexcept { return Stream::err; }

// --- to the guest

struct WindowSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
  CORDON_FIELDS(WindowSize, self.rows, self.columns);
};

// `process` is a number of the host's choosing, never used twice in a sandbox's life.
struct Start {
  std::uint32_t process = 0;
  std::vector<std::string> arguments;    // the first is looked up in PATH of `environment`
  std::vector<std::string> environment;  // NAME=value; the whole of it
  std::string directory;                 // absolute, inside
  std::optional<WindowSize> terminal;    // a terminal of its own instead of three pipes
  bool input = true;                     // false: standard input is empty from the start
  bool as_root = false;                  // as id 0; only where the fences say `root_too`
  CORDON_FIELDS(Start, self.process, self.arguments, self.environment, self.directory,
                self.terminal, self.input, self.as_root);
};

// Once, before all others but Tree: written by the launcher. The spawner of `fences` is made at
// once.
struct Setup {
  std::uint16_t least_version = kGuestVersion;
  std::uint16_t most_version = kGuestVersion;
  std::uint32_t ring = kDefaultRing;
  Fences fences;
  std::string
      disk;  // a path on the sandbox's own disk, whose fill level Exited tells; may be empty
  // Started as soon as the tree stands, before anybody has come: its number is kStandby.
  std::optional<Start> standby;
  CORDON_FIELDS(Setup, self.least_version, self.most_version, self.ring, self.fences, self.disk,
                self.standby);
};

// From a launcher that puts the plan's tree in its place while pid 1 waits: false before Setup,
// true when that is done. Without either the tree stands already.
struct Tree {
  bool stands = true;
  CORDON_FIELDS(Tree, self.stands);
};

struct Input {
  std::uint32_t process = 0;
  std::uint64_t offset = 0;  // of the first byte; must be where the last frame ended
  std::string bytes;
  bool last = false;  // end of input after these bytes; a terminal gets its end-of-file character
  CORDON_FIELDS(Input, self.process, self.offset, self.bytes, self.last);
};

enum class SignalTo : std::uint8_t {
  process,  // the one that was started
  group,    // its process group, or the terminal's foreground group
  // Every process of the sandbox but pid 1. After SIGSTOP nothing runs or begins, whatever happens,
  // until SIGCONT: then all go on as they were. Files are read and written meanwhile.
  all,
};
constexpr SignalTo last_of(SignalTo) noexcept { return SignalTo::all; }

struct Signal {
  std::uint32_t process = 0;
  std::uint8_t number = 0;
  SignalTo to = SignalTo::process;
  CORDON_FIELDS(Signal, self.process, self.number, self.to);
};

struct Resize {
  std::uint32_t process = 0;
  WindowSize size;
  CORDON_FIELDS(Resize, self.process, self.size);
};

// All bytes before `offset` are safe with the host.
struct Acknowledge {
  std::uint32_t process = 0;
  Stream stream = Stream::out;
  std::uint64_t offset = 0;
  CORDON_FIELDS(Acknowledge, self.process, self.stream, self.offset);
};

// The host has recorded the exit, or the failed start: the guest may forget the process.
struct AcknowledgeExit {
  std::uint32_t process = 0;
  CORDON_FIELDS(AcknowledgeExit, self.process);
};

// The host has come back, or begins: the guest answers Hello and repeats all that is not
// acknowledged. A host that died may have left half a frame on the stream, in either direction: its
// successor sends one byte with the end of a new stream beside it (SCM_RIGHTS) instead, and all
// goes on there as after Resume.
struct Resume {
  CORDON_FIELDS(Resume);
};

// How full the sandbox's own disk is: answered by Usage.
struct AskUsage {
  std::uint32_t request = 0;
  CORDON_FIELDS(AskUsage, self.request);
};

// --- from the guest

struct Hello {
  std::uint16_t version = kGuestVersion;
  CORDON_FIELDS(Hello, self.version);
};

// What stopped it before a program ran. The names are part of reports: "exec", "directory".
struct Failed {
  std::uint32_t process = 0;  // 0: the guest itself could not go on
  std::string step;
  std::int32_t error_number = 0;
  CORDON_FIELDS(Failed, self.process, self.step, self.error_number);
};

struct Started {
  std::uint32_t process = 0;
  std::uint32_t pid = 0;  // inside
  CORDON_FIELDS(Started, self.process, self.pid);
};

// A process that the guest has not forgotten: its end, or some of its bytes, are still to be taken
// by a host. Where the streams stand, so that another host can go on.
struct KnownProcess {
  std::uint32_t process = 0;
  std::uint32_t pid = 0;  // inside; 0: not begun yet
  std::string name;       // the first word of its command, at most kLongestProcessName bytes
  bool terminal = false;
  bool ended = false;                  // an exit or a failed start is owed, or acknowledged
  bool end_acknowledged = false;       // it will not be told again
  std::uint64_t out_acknowledged = 0;  // where Output begins again
  std::uint64_t err_acknowledged = 0;
  std::uint64_t input_given = 0;  // the next byte of Input
  bool input_ended = false;       // no more is taken
  CORDON_FIELDS(KnownProcess, self.process, self.pid, self.name, self.terminal, self.ended,
                self.end_acknowledged, self.out_acknowledged, self.err_acknowledged,
                self.input_given, self.input_ended);
};

// After every Hello, before anything else: all of them.
struct Processes {
  std::uint32_t highest = 0;  // number that was ever started: who goes on takes greater ones
  std::vector<KnownProcess> known;
  CORDON_FIELDS(Processes, self.highest, self.known);
};

struct Output {
  std::uint32_t process = 0;
  Stream stream = Stream::out;
  std::uint64_t offset = 0;
  std::string bytes;
  CORDON_FIELDS(Output, self.process, self.stream, self.offset, self.bytes);
};

// Nobody holds the writing end any more; `offset` bytes were written in all.
struct OutputEnd {
  std::uint32_t process = 0;
  Stream stream = Stream::out;
  std::uint64_t offset = 0;
  CORDON_FIELDS(OutputEnd, self.process, self.stream, self.offset);
};

// Input before `offset` has reached the program, or will never: the window moves.
struct InputTaken {
  std::uint32_t process = 0;
  std::uint64_t offset = 0;
  CORDON_FIELDS(InputTaken, self.process, self.offset);
};

struct DiskUse {
  std::uint64_t bytes = 0;
  std::uint64_t most_bytes = 0;
  std::uint64_t inodes = 0;
  std::uint64_t most_inodes = 0;
  CORDON_FIELDS(DiskUse, self.bytes, self.most_bytes, self.inodes, self.most_inodes);
};

struct Exited {
  std::uint32_t process = 0;
  bool by_signal = false;
  std::uint32_t value = 0;  // the code, or the signal's number
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t most_memory = 0;  // bytes, of the largest process
  DiskUse disk;
  // Processes that the kernel of a machine has ended so far for want of memory; of the host's the
  // groups tell.
  std::uint64_t oom_kills = 0;
  CORDON_FIELDS(Exited, self.process, self.by_signal, self.value, self.cpu_microseconds,
                self.most_memory, self.disk, self.oom_kills);
};

struct Usage {
  std::uint32_t request = 0;
  DiskUse disk;
  std::uint32_t processes = 0;
  std::uint64_t born = 0;  // processes and threads that were ever made
  CORDON_FIELDS(Usage, self.request, self.disk, self.processes, self.born);
};

// What makes one machine of several that began as the same: the first frame to one, before Setup.
struct Wake {
  std::string host_name;
  std::string seed;         // random bytes of the host's, kSeedBytes
  std::uint64_t clock = 0;  // nanoseconds since 1970; the relay sets it
  bool network = false;     // its link has the address of a steered guest
  bool traced = false;      // it tells what programs inside do
  CORDON_FIELDS(Wake, self.host_name, self.seed, self.clock, self.network, self.traced);
};
inline constexpr std::size_t kSeedBytes = 64;
// On the command line of the kernel of a machine that will be saved: what any of those that begin
// as it may need is made before it is ready.
inline constexpr std::string_view kSavedWord = "cordon.saved";
// With what a relay ends that has saved a machine which was ready for its Wake.
inline constexpr std::uint8_t kSavedMachine = 3;

// A machine waits for its Wake: to who is in front of it, and no further.
struct Ready {
  CORDON_FIELDS(Ready);
};

// The order is the wire's: a type byte is the index. New frames go to the end, with a new version.
using ToGuest =
    std::variant<Setup, Start, Input, Signal, Resize, Acknowledge, AcknowledgeExit, Resume,
                 AskUsage, FileRequest, Tree, OpenTunnel, TunnelData, TunnelEnd, TunnelTaken,
                 CloseTunnel, StartWatch, StopWatch, WriteTree, ReadTree, Wake>;
using FromGuest =
    std::variant<Hello, Failed, Started, Output, OutputEnd, InputTaken, Exited, Usage, FileReply,
                 Processes, TunnelOpened, TunnelFailed, TunnelData, TunnelEnd, TunnelTaken,
                 WatchBegun, WatchEvents, WatchEnded, Traced, Ready>;

// With the length in front, ready to be written.
std::vector<std::byte> encode(const ToGuest& frame);
std::vector<std::byte> encode(const FromGuest& frame);
void append(std::vector<std::byte>& out, const FromGuest& frame);

// `body`: a whole frame without its length.
Result<ToGuest> decode_to_guest(std::span<const std::byte> body);
Result<FromGuest> decode_from_guest(std::span<const std::byte> body);

// Whether a whole frame, without its length, is of that kind: by its type byte alone.
template <class Said>
bool is_a(std::span<const std::byte> body) {
  static const auto kType = static_cast<std::uint8_t>(FromGuest{Said{}}.index());
  return std::to_integer<std::uint8_t>(body.front()) == kType;
}

// Cuts a byte stream into frames. Bytes go in as they come; whole bodies come out.
class FrameCutter {
 public:
  explicit FrameCutter(std::size_t longest = kLongestGuestFrame) : longest_{longest} {}

  void push(std::span<const std::byte> bytes);
  // The next whole body, nothing when more bytes are needed; `invalid` for a frame that is empty or
  // too long, after which the stream cannot be trusted. The span holds until the next push or next.
  Result<std::optional<std::span<const std::byte>>> next();

 private:
  std::size_t longest_;
  std::vector<std::byte> held_;
  std::size_t start_ = 0;
};

}  // namespace cordon::frame
