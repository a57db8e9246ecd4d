package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.s3.S3Request;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page about S3 lists every operation that is served, and no other. */
class OperationTableTest {
  private static final Path PAGE = Path.of("../docs/reference/s3.md");
  private static final Pattern NAME = Pattern.compile("[A-Z][A-Za-z0-9]+");

  /** Answered without a request of S3. */
  private static final String PREFLIGHT = "Preflight";

  private static void collect(Class<?> type, Set<String> names) {
    if (!type.isRecord()) {
      for (Class<?> each : type.getPermittedSubclasses()) {
        collect(each, names);
      }
      return;
    }
    String name = type.getSimpleName();
    switch (name) {
      case "GetAcl", "PutAcl" -> {
        names.add(name.replace("Acl", "BucketAcl"));
        names.add(name.replace("Acl", "ObjectAcl"));
      }
      case "GetUnconfigured" -> {} // features that are not there
      default -> names.add(name);
    }
  }

  @Test
  void theTableListsWhatIsServed() throws Exception {
    Set<String> served = new TreeSet<>(Set.of(PREFLIGHT));
    collect(S3Request.class, served);
    List<String> lines = Files.readAllLines(PAGE);
    int begin = lines.indexOf("| operation | remarks |");
    Set<String> listed = new TreeSet<>();
    lines.stream()
        .skip(begin + 2)
        .takeWhile(line -> line.startsWith("|"))
        .map(line -> line.split("\\|", -1)[1])
        .forEach(cell -> NAME.matcher(cell).results().forEach(name -> listed.add(name.group())));
    assertEquals(served, listed, "edit the table of operations in " + PAGE);
  }
}
