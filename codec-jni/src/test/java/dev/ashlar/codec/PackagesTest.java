package dev.ashlar.codec;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The packages of this module depend on each other in one direction only. */
@AnalyzeClasses(packages = "dev.ashlar.codec", importOptions = ImportOption.DoNotIncludeTests.class)
class PackagesTest {
  @ArchTest
  static final ArchRule NO_CYCLES =
      slices().matching("dev.ashlar.codec.(**)").should().beFreeOfCycles();
}
