export interface Requirement {
  /** '1 §2' for the second section of part 1, 'Decisions §4' for the decisions, 'Additions' for what is our own. */
  section: string;
  text: string;
  proofs: { file: string; title: string }[];
}

const SECTION = /^## ([12] §\d+(?:\.\d+)?|Decisions §\d+|Additions)/;
const ROW = /^\| (?<text>.+) \| (?<proofs>`.+) \|$/;
const PROOF = /^`(?<file>[^`]+)`: (?<title>.+)$/;

/** Reads docs/conformance.md; a line of a table that is no row is an error. */
export function readConformanceList(markdown: string): Requirement[] {
  const requirements: Requirement[] = [];
  let section = '';
  for (const line of markdown.split('\n')) {
    section = SECTION.exec(line)?.[1] ?? section;
    if (!line.startsWith('|') || line.startsWith('|---') || line === '| What must hold | Proven by |')
      continue;
    const { text, proofs } = ROW.exec(line)?.groups ?? {};
    if (!text || !proofs || section === '') throw new Error(`This line is no row of the list: ${line}`);
    requirements.push({ section, text, proofs: proofs.split('<br>').map(readProof) });
  }
  return requirements;
}

function readProof(written: string): { file: string; title: string } {
  const { file, title } = PROOF.exec(written)?.groups ?? {};
  if (!file || !title) throw new Error(`This names no test: ${written}`);
  return { file, title };
}
