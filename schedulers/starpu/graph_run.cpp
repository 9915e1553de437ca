// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/graph_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "schedulers/starpu/cells_filter.hpp"
#include "schedulers/starpu/task_priorities.hpp"

namespace heptad::starpu {
namespace {

auto order_of(block const& b) { return std::tuple(b.space, b.col, b.row, b.cols, b.rows); }

/// Tools may look at a name long after its task has ended.
char const* lasting(std::string const& name) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;
  std::lock_guard const lock(mutex);
  return names.insert(name).first->c_str();
}

/// The lane of every worker, by its identifier: CPU workers, which need scratch, come first.
std::vector<int> lanes() {
  std::vector<int> lane(STARPU_NMAXWORKERS);
  int next = 0;
  for (bool const cpu : {true, false})
    for (int id = 0; id < static_cast<int>(starpu_worker_get_count()); ++id)
      if ((starpu_worker_get_type(id) == STARPU_CPU_WORKER) == cpu) lane[static_cast<std::size_t>(id)] = next++;
  return lane;
}

int use_of(std::vector<use>& uses, starpu_data_handle_t handle, int mode) {
  auto const found = std::ranges::find(uses, handle, &use::handle);
  auto const index = static_cast<int>(found - uses.begin());
  if (found == uses.end()) uses.push_back({handle, mode});
  else found->mode |= mode;
  return index;
}

int mode_of(touched_block const& x, bool commutes) {
  if (!x.writes) return STARPU_R;
  if (!x.reads) return STARPU_W;
  return commutes && x.accumulates ? STARPU_RW | STARPU_COMMUTE : STARPU_RW;
}

void set_handles(starpu_task& t, std::vector<use> const& uses) {
  t.nbuffers = static_cast<int>(uses.size());
  starpu_data_handle_t* handles = t.handles;
  starpu_data_access_mode* modes = t.modes;
  if (uses.size() > STARPU_NMAXBUFS) {  // StarPU frees both with the task
    handles = t.dyn_handles = static_cast<starpu_data_handle_t*>(std::calloc(uses.size(), sizeof *handles));
    modes = t.dyn_modes = static_cast<starpu_data_access_mode*>(std::calloc(uses.size(), sizeof *modes));
    if (handles == nullptr || modes == nullptr) throw std::bad_alloc();
  }
  for (std::size_t i = 0; i < uses.size(); ++i) {
    handles[i] = uses[i].handle;
    modes[i] = static_cast<starpu_data_access_mode>(uses[i].mode);
  }
}

/// home −1: StarPU allocates it, with the leading dimension ld.
starpu_data_handle_t register_block(block const& b, orientation order, int home, void* data, std::int64_t ld,
                                    std::int64_t element_bytes) {
  bool const by_columns = order == orientation::column_major;
  std::int64_t const inner = by_columns ? b.rows : b.cols, outer = by_columns ? b.cols : b.rows;
  if (home >= 0 && outer == 1) ld = inner;
  starpu_data_handle_t handle = nullptr;
  starpu_matrix_data_register(&handle, home, reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint32_t>(ld),
                              static_cast<std::uint32_t>(home < 0 ? ld : inner), static_cast<std::uint32_t>(outer),
                              static_cast<std::size_t>(element_bytes));
  return handle;
}

}  // namespace

graph_run::graph_run(bound_product const& product, std::span<starpu_data_handle_t const, 3> handles,
                     run_options const& options)
    : product_(product),
      options_(options),
      element_bytes_(product.work->type == element_type::f64 ? 8 : 4),
      operands_{handles[0], handles[1], handles[2]},
      order_(all_moves() ? task_order{} : order_of_tasks(*product.order)),
      priorities_(priorities_of(*product.work, *product.order, known_priorities(options.sched_ctx, options.priority),
                                all_moves())),
      lane_of_worker_(lanes()),
      last_end_(lane_of_worker_.size()),
      records_(product.work->tasks.size()),
      start_(std::chrono::steady_clock::now()) {
  graph const& g = *product.work;
  arguments_.resize(g.tasks.size());
  for (std::size_t t = 0; t < g.tasks.size(); ++t) {
    arguments_[t] = {this, static_cast<int>(t), {}, {}};
    if (nothing_moves()) continue;
    arguments_[t].placed = place_task(g.tasks[t], g, product.beta == 0);
    if (arguments_[t].placed.touched.size() > most_places)
      throw error(status::internal_error, "task " + g.tasks[t].name + " touches too many blocks; C is untouched");
  }
  find_cells();
}

graph_run::~graph_run() {
  if (!submitted_ && !children_.empty())
    starpu_data_partition_clean(operands_[space_C], static_cast<unsigned>(children_.size()), children_.data());
  for (cell const& c : cells_) {
    if (!c.owned) continue;
    if (submitted_) starpu_data_unregister(c.handle);
    else starpu_data_unregister_no_coherency(c.handle);
  }
  if (submitted_) return;
  for (starpu_data_handle_t const lock : locks_)
    if (lock != nullptr) starpu_data_unregister_no_coherency(lock);
}

double graph_run::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

int graph_run::lane() const { return lane_of_worker_[static_cast<std::size_t>(starpu_worker_get_id())]; }

/// Whether StarPU hands the blocks of a space to tasks, wherever they are. Otherwise they stay at their addresses.
bool graph_run::moves(int space) const {
  return space >= first_buffer ? product_.workspace == nullptr : options_.in_cells || operands_[space] != nullptr;
}

bool graph_run::all_moves() const {
  return (product_.work->buffers.empty() || moves(first_buffer)) && moves(space_A) && moves(space_B) && moves(space_C);
}

bool graph_run::nothing_moves() const {
  return (product_.work->buffers.empty() || !moves(first_buffer)) && !moves(space_A) && !moves(space_B) &&
         !moves(space_C);
}

/// Every block that moves and is not found in a handle of the whole, once. In a graph in cells those that are written
/// are apart.
void graph_run::find_cells() {
  for (task_argument const& x : arguments_)
    for (touched_block const& t : x.placed.touched)
      if (moves(t.where.space) && (t.where.space >= space_C || options_.in_cells)) cells_.push_back({t.where});
  std::ranges::sort(cells_, {}, [](cell const& c) { return order_of(c.where); });
  auto const repeated = std::ranges::unique(cells_, {}, &cell::where);
  cells_.erase(repeated.begin(), repeated.end());
}

graph_run::cell const& graph_run::cell_of(block const& b) const {
  return *std::ranges::lower_bound(cells_, order_of(b), {}, [](cell const& c) { return order_of(c.where); });
}

/// The lock that a task must hold. The handle of a block that moves is lock enough.
int graph_run::lock_of(task_argument const& x) const {
  if (order_.lock.empty()) return task_order::no_lock;
  auto const in_its_handle = [this](touched_block const& t) { return !t.accumulates || moves(t.where.space); };
  bool const needless = !x.placed.touched.empty() && std::ranges::all_of(x.placed.touched, in_its_handle);
  return needless ? task_order::no_lock : order_.lock[static_cast<std::size_t>(x.number)];
}

/// A lock is a handle without data, which commuting tasks have in turn.
void graph_run::register_locks() {
  locks_.resize(static_cast<std::size_t>(product_.order->locks));
  for (task_argument const& x : arguments_)
    if (int const lock = lock_of(x); lock != task_order::no_lock)
      if (starpu_data_handle_t& handle = locks_[static_cast<std::size_t>(lock)]; handle == nullptr)
        starpu_void_data_register(&handle);
}

void graph_run::declare_order() {
  std::vector<starpu_task*> before;
  for (std::size_t t = 0; t < order_.predecessors.size(); ++t) {
    before.clear();
    for (int const p : order_.predecessors[t]) before.push_back(tasks_[static_cast<std::size_t>(p)].get());
    if (!before.empty())
      starpu_task_declare_deps_array(tasks_[t].get(), static_cast<unsigned>(before.size()), before.data());
  }
}

void graph_run::register_cells() {
  for (cell& c : cells_) {
    bool const buffer = c.where.space >= first_buffer;
    if (!buffer && operands_[space_C] != nullptr) continue;
    c.owned = true;
    orientation const order = order_in(c.where.space);
    bool const by_columns = order == orientation::column_major;
    if (!buffer) {
      location const p = fixed_place(c.where);
      c.handle = register_block(c.where, order, STARPU_MAIN_RAM, p.data, by_columns ? p.cs : p.rs, element_bytes_);
    } else {
      std::int64_t const ld = padded_leading_dimension(by_columns ? c.where.rows : c.where.cols, element_bytes_);
      c.handle = register_block(c.where, order, -1, nullptr, ld, element_bytes_);
    }
  }
}

orientation graph_run::order_in(int space) const {
  if (space < first_buffer) return product_.orders[space];
  return product_.work->buffers[static_cast<std::size_t>(space - first_buffer)].order;
}

/// One level of parts, whatever the number of levels of the plan.
void graph_run::plan_parts_of_C() {
  starpu_data_handle_t const C = operands_[space_C];
  if (C == nullptr) return;
  std::vector<block> parts;
  for (cell const& c : cells_)
    if (c.where.space == space_C) parts.push_back(c.where);
  if (parts.size() > 1) {
    access_ = access_to_C();
    children_.resize(parts.size());
    plan_cells(C, parts, children_);
  }
  std::size_t child = 0;
  for (cell& c : cells_)
    if (c.where.space == space_C) c.handle = children_.empty() ? C : children_[child++];
}

/// An access to the whole ends any partition of the caller's that StarPU still holds open.
graph_run::new_task graph_run::access_to_C() const {
  new_task t(starpu_task_create());
  t->cl = &(product_.beta == 0 ? allocating_codelet() : empty_codelet());
  t->sched_ctx = options_.sched_ctx;
  t->priority = known_priorities(options_.sched_ctx, options_.priority).of_rank(0);
  set_handles(*t, {{operands_[space_C], product_.beta == 0 ? STARPU_W : STARPU_RW}});
  return t;
}

/// Cleaning would close the partition too, but in StarPU 1.3 only of what is at home in the first node of main memory.
void graph_run::unpartition_C() {
  if (children_.empty()) return;
  auto const count = static_cast<unsigned>(children_.size());
  starpu_data_unpartition_submit(operands_[space_C], count, children_.data(), -1);
  starpu_data_partition_clean(operands_[space_C], count, children_.data());
}

/// Every block of C goes to main memory as soon as it is final, while others are still being computed.
void graph_run::bring_home() {
  for (cell const& c : cells_)
    if (options_.in_cells && c.owned && c.where.space == space_C)
      starpu_data_acquire_on_node_cb(
          c.handle, STARPU_MAIN_RAM, STARPU_R,
          [](void* handle) { starpu_data_release_on_node(static_cast<starpu_data_handle_t>(handle), STARPU_MAIN_RAM); },
          c.handle);
}

location graph_run::fixed_place(block const& b) const {
  if (b.space < first_buffer) {
    location const& whole = product_.operands[b.space];
    return {static_cast<std::byte*>(whole.data) + (b.row * whole.rs + b.col * whole.cs) * element_bytes_, whole.rs,
            whole.cs};
  }
  heptad::buffer const& whole = product_.work->buffers[static_cast<std::size_t>(b.space - first_buffer)];
  bool const by_columns = whole.order == orientation::column_major;
  std::int64_t const rs = by_columns ? 1 : whole.ld, cs = by_columns ? whole.ld : 1;
  return {product_.workspace + (whole.offset + b.row * rs + b.col * cs) * element_bytes_, rs, cs};
}

slot graph_run::slot_of(touched_block const& x, bool commutes, std::vector<use>& uses) const {
  block const& b = x.where;
  int const mode = mode_of(x, commutes);
  if (b.space < space_C && operands_[b.space] != nullptr)
    return {use_of(uses, operands_[b.space], mode), {}, order_in(b.space), b.row, b.col};
  if (moves(b.space)) return {use_of(uses, cell_of(b).handle, mode), {}, order_in(b.space), 0, 0};
  slot s;
  s.fixed = fixed_place(b);
  return s;
}

/// The kinds of workers that may take a task, in STARPU_CPU | …: on a device sums have other bits.
int graph_run::workers_for([[maybe_unused]] task_argument const& x, bool in_memory,
                           [[maybe_unused]] std::vector<use> const& uses) const {
  if (in_memory || product_.ordered) return STARPU_CPU;
#ifdef STARPU_SIMGRID
  return -1;  // all that have a function
#else
  bool const on_devices = product_.on_devices != nullptr && product_.on_devices->knows(task_of(x));
  if (on_devices && product_.only_on_devices) return STARPU_CUDA;
  std::int64_t bytes = 0;
  for (use const& u : uses) bytes += static_cast<std::int64_t>(starpu_data_get_size(u.handle));
  return room_.kinds_with(bytes, STARPU_CPU | STARPU_OPENCL | (on_devices ? STARPU_CUDA : 0));
#endif
}

graph_run::new_task graph_run::make_task(task_argument& x) const {
  task const& of_graph = task_of(x);
  std::vector<use> uses;
  bool in_memory = x.placed.touched.empty();
  // Who holds several blocks while it waits for another one keeps them from everybody: such updates are in order.
  bool const commutes =
      !product_.ordered && std::ranges::count(x.placed.touched, true, &touched_block::accumulates) == 1;
  for (touched_block const& t : x.placed.touched) {
    x.slots.push_back(slot_of(t, commutes, uses));
    in_memory = in_memory || x.slots.back().buffer < 0;
  }
  if (int const lock = lock_of(x); lock != task_order::no_lock)
    uses.push_back({locks_[static_cast<std::size_t>(lock)], STARPU_RW | STARPU_COMMUTE});
  new_task t(starpu_task_create());
  t->cl = &codelet_of(of_graph);
  t->cl_arg = &x;
  t->name = lasting(of_graph.name);
  t->callback_func = on_task_end;
  t->callback_arg = &x;
  t->sched_ctx = options_.sched_ctx;
  t->priority = priorities_[static_cast<std::size_t>(x.number)];
  t->flops = of_graph.cost.flops;
  t->where = workers_for(x, in_memory, uses);
  if (int const worker = options_.worker ? options_.worker(of_graph) : -1; worker >= 0) {
    t->execute_on_a_specific_worker = 1;
    t->workerid = static_cast<unsigned>(worker);
  }
  set_handles(*t, uses);
  return t;
}

void graph_run::prepare() {
  register_cells();
  register_locks();
  plan_parts_of_C();
  tasks_.reserve(arguments_.size());
  for (task_argument& x : arguments_) tasks_.push_back(make_task(x));
  declare_order();
}

void graph_run::submit(std::function<void()> finished) {
  finished_ = std::move(finished);
  running_ = arguments_.size() + 1;  // this submission is the last one
  submitted_ = true;
  if (access_ != nullptr) {
    submit(access_);
    starpu_data_partition_submit(operands_[space_C], static_cast<unsigned>(children_.size()), children_.data());
  }
  // After a refusal nothing more may be submitted: it might wait for what never comes.
  for (new_task& t : tasks_)
    if (refused_ != 0 || !submit(t)) {
      (void)t.release();  // a task that was declared to come before may still look at it
      task_ended();
    }
  unpartition_C();
  bring_home();
  for (cell& c : cells_)
    if (c.owned && (c.where.space >= first_buffer || !options_.in_cells)) {
      starpu_data_unregister_submit(c.handle);
      c.owned = false;
    }
  for (starpu_data_handle_t const lock : locks_)
    if (lock != nullptr) starpu_data_unregister_submit(lock);
  int const refused = refused_;
  task_ended();  // may delete this
  if (refused != 0)
    throw error(status::internal_error, "StarPU refused a task (" + std::to_string(refused) + "); C is partly updated");
}

bool graph_run::submit(new_task& t) {
  int const answer = starpu_task_submit(t.get());
  if (answer == 0) {
    (void)t.release();  // StarPU destroys it
    return true;
  }
  refused_ = answer;
  return false;
}

void graph_run::on_task_end(void* argument) {
  task_argument const& x = argument_of(argument);
  task_record& record = x.run->records_[static_cast<std::size_t>(x.number)];
  if (record.end < 0) record.end = x.run->elapsed();
  x.run->task_ended();
}

std::pmr::vector<task_record> graph_run::take_records() {
  std::ranges::sort(records_, {}, &task_record::end);
  // A device is given its next task while it works on the one before.
  for (task_record& r : records_) {
    double& before = last_end_[static_cast<std::size_t>(r.worker)];
    r.begin = std::max(r.begin, before);
    before = r.end;
  }
  return std::move(records_);
}

void graph_run::task_ended() {
  if (running_.fetch_sub(1) != 1) return;
  auto const finished = std::move(finished_);  // may delete this
  finished();
}

}  // namespace heptad::starpu
