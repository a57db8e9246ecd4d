package dev.ashlar.bench.options;

import dev.ashlar.bench.Json;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What becomes of the figures. */
public final class OutputOptions {
  @Option(
      names = "--results",
      paramLabel = "FOLDER",
      defaultValue = "bench-results",
      description =
          "Folder of the results; each run makes a folder PHASE/PROFILE/pass-N/STEP in it"
              + " (default: bench-results).")
  private Path results = Path.of("bench-results");

  @Option(
      names = "--phase",
      paramLabel = "NAME",
      defaultValue = "run",
      description = "Label of the results, for example before or after (default: run).")
  private String phase = "run";

  @Option(names = "--json", description = "Print JSON instead of tables.")
  private boolean isJson;

  private @Nullable Path kept;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public Path results() {
    return results;
  }

  public String phase() {
    return phase;
  }

  public boolean isJson() {
    return isJson;
  }

  public PrintStream out() {
    return out;
  }

  /** The new folder of this run. */
  public ResultFolder newFolder(String command) throws IOException {
    ResultFolder folder = ResultFolder.create(results, command, phase);
    kept = folder.path();
    return folder;
  }

  /** Prints it in the form that was asked for; where it is kept stands apart from JSON. */
  public void print(Record result, Consumer<PrintStream> tables) throws IOException {
    if (isJson) {
      out.println(Json.of(result));
    } else {
      tables.accept(out);
      out.println();
    }
    if (kept != null) {
      (isJson ? System.err : out).println("Results: " + kept);
    }
  }
}
