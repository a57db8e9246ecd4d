package dev.ashlar.bench.soak;

import dev.ashlar.bench.load.LoadResult;
import java.util.List;

/** What a soak came to. */
public record SoakResult(
    String machine, String server, LoadResult load, List<Growth> growth, List<Sample> samples) {}
