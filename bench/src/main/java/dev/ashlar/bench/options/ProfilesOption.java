package dev.ashlar.bench.options;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which profiles take part. */
public final class ProfilesOption {
  /** At commas before a number: others belong to a profile, as in 6+2,optimizations=off. */
  @Option(
      names = "--profile",
      split = ",(?=\\d)",
      paramLabel = "PROFILE[,PROFILE...]",
      hideParamSyntax = true,
      converter = ProfileArgument.class,
      description = "Profiles to measure, for example 4+2,6+2. Can be repeated.")
  private @Nullable List<String> profiles;

  /** Each once, however often it was named. */
  public List<String> or(List<String> preset) {
    return profiles == null ? preset : profiles.stream().distinct().toList();
  }

  /** For commands that show both modes of each, or where modes do not matter: as {@code 6+2}. */
  public List<String> shapes(List<String> preset) {
    return or(preset).stream().map(profile -> profile.split(",", 2)[0]).distinct().toList();
  }
}
