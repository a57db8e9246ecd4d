package dev.ashlar.bench.load;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs on one server, one for each of the storage classes that are measured. */
final class LoadRuns implements AutoCloseable {
  private final Map<String, LoadRun> runs = new LinkedHashMap<>();

  /**
   * Makes their buckets.
   *
   * @param classes empty: there is one run, in the storage class of its bucket
   * @param title of that run
   */
  static LoadRuns open(
      ServerOptions.Loaded server,
      List<String> classes,
      String title,
      LoadRun.Client client,
      DataSet data)
      throws IOException, InterruptedException {
    LoadRuns opened = new LoadRuns();
    try {
      for (String storageClass : classes) {
        opened.runs.put(
            storageClass, new LoadRun(server.withStorageClass(storageClass), client, data));
      }
      if (classes.isEmpty()) {
        opened.runs.put(title, new LoadRun(server, client, data));
      }
      return opened;
    } catch (IOException | InterruptedException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  /** By storage class, in the order in which they were named. */
  Map<String, LoadRun> byClass() {
    return runs;
  }

  void prepare() throws InterruptedException {
    for (LoadRun run : runs.values()) {
      run.prepare();
    }
  }

  /** All answers so far, as the server counts them. */
  Map<String, Long> answered() {
    Map<String, Long> answered = new TreeMap<>();
    for (LoadRun run : runs.values()) {
      run.answered().forEach((operation, times) -> answered.merge(operation, times, Long::sum));
    }
    return answered;
  }

  @Override
  public void close() {
    runs.values().forEach(LoadRun::close);
  }
}
